CREATE DATABASE IF NOT EXISTS lockbench;
CREATE USER IF NOT EXISTS lockbench@'%';
GRANT ALL ON *.* TO lockbench@'%';
