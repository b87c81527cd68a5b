-- privacyfrost_driven, undivided: Units of the classes that were divided last: their parts may be divided again.
select count(*) from anon_scratch.main.open_classes
