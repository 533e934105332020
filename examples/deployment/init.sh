#!/bin/sh
# The database of a store: its user is an ordinary one, so that row-level security holds for everybody who has the address.
set -eu
psql --username "$POSTGRES_USER" --set password="$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE recallens LOGIN PASSWORD :'password';
CREATE DATABASE recallens OWNER recallens;
\connect recallens
CREATE EXTENSION vector;
SQL
