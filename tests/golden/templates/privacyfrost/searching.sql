-- privacyfrost_suppressing, search goes on: Whether the search goes on.
select count(*) from anon_scratch.main.search_standing where phase <> 'end'
