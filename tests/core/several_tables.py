"""A policy of several tables: the example by which they are specified, word for word."""

SEVERAL = """\
version: 1
person: patients                                   # the table with one row per person; its key is the person
tables:
  patients:
    source: {table: main.patients}
    key: patient_id
    columns:
      patient_id: {role: key}                      # published as a number drawn for this release
      name:       {role: identifier}
      birth_date: {role: quasi}
      sex:        {role: quasi}
      zip:        {role: quasi, hierarchy: {builder: prefix}}
      died:       {role: sensitive, protect: {l_diversity: 2}}
  visits:
    source: {table: main.visits}
    key: visit_id
    links: {patient_id: patients}                  # a foreign key: own column -> table
    columns:
      visit_id:   {role: key}
      patient_id: {role: key}
      day:        {role: event, hierarchy: {builder: date}}
      ward:       {role: event}
      diagnosis:  {role: sensitive, protect: {eir_l: 3}}
      cost:       {role: drop}
  labs:
    source: {table: main.labs}
    links: {visit_id: visits}                      # reaches its person through visits
    columns:
      visit_id: {role: key}
      test:     {role: event, hierarchy: {file: tests.csv}}
      value:    {role: keep}
privacy: {k_anonymity: 5, knows: {events: 1}}
suppression_limit: 0.02
publish: {schema: published, database: release.duckdb}
"""  # noqa: E501  # word for word
