-- Tenants put U+0000 and halves of surrogate pairs into metadata and the like. JSON keeps them as escapes, and PostgreSQL, which
-- can't hold them in a text, refuses to look for anything in such a document: charts stopped at an event with one.
--
-- U+0000 becomes what it is in every stored text (U+FFFF and 0), and half a pair what it becomes on its way to any server
-- (U+FFFD). An escape counts unless the backslash itself is escaped: an odd number of them stands before it.
CREATE FUNCTION json_readable(document text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE WHEN strpos(document, '\u') = 0 THEN document ELSE
    regexp_replace(
      regexp_replace(document, '(?<!\\)((?:\\\\)*)\\u0000', '\1' || chr(65535) || '0', 'g'),
      '(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}', '\1' || chr(65533), 'g') END;

CREATE OR REPLACE FUNCTION json_part(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN replace((json_readable(document)::json #> json_path(path))::text, chr(65535) || '0', '\u0000');
CREATE OR REPLACE FUNCTION json_text(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE (json_readable(document)::json #> json_path(path))::text WHEN 'true' THEN '1' WHEN 'false' THEN '0'
    ELSE json_readable(document)::json #>> json_path(path) END;
CREATE OR REPLACE FUNCTION json_each(document text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT json_array_elements_text(json_readable(document)::json) $$;
