CREATE TABLE first (name TEXT);
INSERT INTO first VALUES ('one');
INSERT INTO first VALUES ('two');
