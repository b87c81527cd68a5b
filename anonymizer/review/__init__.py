"""Read-only commands on sources and releases: risk, attacks, reports, comparisons, drafts."""
