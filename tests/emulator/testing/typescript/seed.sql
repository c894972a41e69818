INSERT INTO rows (text) VALUES ('one'), ('two');
