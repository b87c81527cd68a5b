-- mondrian_refine, near classes: {% if least is not none %}
    -- nothing is looked for any more once a search has saved too little
    and (select saved * 100 > lost from anon_scratch.main.refine_rounds)
