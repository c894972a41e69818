CREATE TABLE third (name TEXT);
INSERT INTO third SELECT name FROM first;
