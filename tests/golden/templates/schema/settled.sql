-- several_tables_two_events, final classes: The rows of the classes in which every set has enough persons are final.
insert into anon_scratch.main.placed_rows
select k.* from anon_scratch.main.known_rows k
anti join anon_scratch.main.broken_sets b on b.class_id = k.class_id
