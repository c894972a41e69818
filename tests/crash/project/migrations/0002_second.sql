CREATE TABLE second (name TEXT);
CREATE INDEX seconds ON second (name);
