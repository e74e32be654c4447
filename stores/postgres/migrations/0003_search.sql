-- Helpers of the search query, which is in `queries.sql` since its formula goes with a release.
-- oldest release: 0.1.0

-- The form in which text is compared: the twin of `fold` in `notebook/folding.py`.
CREATE FUNCTION durable_memory.fold_v1(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF octet_length(p_text) = length(p_text) THEN
        RETURN lower(p_text COLLATE "C");
    END IF;
    RETURN normalize(casefold(normalize(p_text, NFKC) COLLATE pg_unicode_fast), NFKC);
END $$;

-- About how many characters of a text fold to the first p_offset of its folded form. Each step
-- folds half of what the step before did, so all of them cost about two folds of the text. A cut
-- between characters that combine makes the result off by a character or two at each step: the
-- caller leaves room for that.
CREATE FUNCTION durable_memory.unfold_offset_v1(p_text text, p_offset integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    low integer := 0;
    high integer := length(p_text);
    middle integer;
    folded integer := 0;
    width integer;
BEGIN
    IF octet_length(p_text) = high THEN
        RETURN least(p_offset, high);
    END IF;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        width := length(durable_memory.fold_v1(substr(p_text, low + 1, middle - low)));
        IF folded + width <= p_offset THEN
            low := middle;
            folded := folded + width;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;

-- How often each term occurs in a folded text, as a whole word and in all: `term_counts` in
-- `notebook/scoring.py`. Only terms that occur. p_patterns are the terms as whole words.
CREATE FUNCTION durable_memory.count_terms_v1(p_text text, p_terms text[], p_patterns text[])
RETURNS TABLE (place integer, whole integer, total integer)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    FOR i IN 1 .. cardinality(p_terms) LOOP
        CONTINUE WHEN strpos(p_text, p_terms[i]) = 0;
        place := i;
        total := (length(p_text) - length(replace(p_text, p_terms[i], ''))) / length(p_terms[i]);
        whole := regexp_count(p_text, p_patterns[i]);
        RETURN NEXT;
    END LOOP;
END $$;

-- The piece of a text around the first occurrence of the term that has the most other terms near
-- it, with room for p_chars characters shown, and all of a text that is hardly longer.
CREATE FUNCTION durable_memory.passage_v1(
    p_text text, p_terms text[], p_patterns text[], p_chars integer,
    OUT passage text, OUT cut_before boolean, OUT cut_after boolean
) LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    slack CONSTANT integer := 64;
    chars integer := length(p_text);
    folded text;
    spans int4range[] := '{}';
    span int4range;
    at integer;
    reach integer := p_chars / 2;
    near integer;
    nearest integer := 0;
    best int4range := '[0,0]';
    first integer;
    final integer;
BEGIN
    IF chars > p_chars + 2 * slack THEN
        folded := durable_memory.fold_v1(p_text);
        FOR i IN 1 .. cardinality(p_terms) LOOP
            at := regexp_instr(folded, p_patterns[i]);
            IF at = 0 THEN
                at := strpos(folded, p_terms[i]);
            END IF;
            IF at > 0 THEN
                spans := spans || int4range(at - 1, at - 1 + length(p_terms[i]));
            END IF;
        END LOOP;
        FOREACH span IN ARRAY spans LOOP
            SELECT count(*) INTO near FROM unnest(spans) AS other
            WHERE other <@ int4range(lower(span) - reach, upper(span) + reach);
            IF near > nearest THEN
                nearest := near;
                best := span;
            END IF;
        END LOOP;
        first := durable_memory.unfold_offset_v1(p_text, lower(best)) - reach - slack;
        final := durable_memory.unfold_offset_v1(p_text, upper(best)) + reach + slack;
    END IF;
    first := greatest(0, least(first, chars - p_chars - 2 * slack));
    final := least(chars, greatest(final, p_chars + 2 * slack));
    passage := substr(p_text, first + 1, final - first);
    cut_before := first > 0;
    cut_after := final < chars;
END $$;
