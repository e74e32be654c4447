-- Helpers of the search query, which is in `queries.sql` since its formula goes with a release.
-- oldest release: 0.1.0

-- The non-starters as a character class: `NON_STARTER_CLASS` in `notebook/marks.py`, where it is
-- explained.
CREATE FUNCTION durable_memory.non_starters_v1() RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
    '[\u0300-\u034e\u0350-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7'
    '\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711'
    '\u0730-\u074a\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d'
    '\u0859-\u085b\u0897-\u089f\u08ca-\u08e1\u08e3-\u08ff\u093c\u094d\u0951-\u0954\u09bc\u09cd'
    '\u09fe\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c3c\u0c4d\u0c55\u0c56\u0cbc\u0ccd\u0d3b'
    '\u0d3c\u0d4d\u0dca\u0e38-\u0e3a\u0e48-\u0e4b\u0eb8-\u0eba\u0ec8-\u0ecb\u0f18\u0f19\u0f35'
    '\u0f37\u0f39\u0f71-\u0f75\u0f7a-\u0f7d\u0f80-\u0f84\u0f86\u0f87\u0fc6\u1037\u1039\u103a'
    '\u108d\u135d-\u135f\u1714\u1715\u1734\u17d2\u17dd\u18a9\u1939-\u193b\u1a17\u1a18\u1a60'
    '\u1a75-\u1a7c\u1a7f\u1ab0-\u1abd\u1abf-\u1ace\u1b34\u1b44\u1b6b-\u1b73\u1baa\u1bab\u1be6'
    '\u1bf2\u1bf3\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce0\u1ce2-\u1ce8\u1ced\u1cf4\u1cf8\u1cf9'
    '\u1dc0-\u1dff\u20d0-\u20dc\u20e1\u20e5-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f'
    '\u3099\u309a\ua66f\ua674-\ua67d\ua69e\ua69f\ua6f0\ua6f1\ua806\ua82c\ua8c4\ua8e0-\ua8f1'
    '\ua92b-\ua92d\ua953\ua9b3\ua9c0\uaab0\uaab2-\uaab4\uaab7\uaab8\uaabe\uaabf\uaac1\uaaf6\uabed'
    '\ufb1e\ufe20-\ufe2f\uff9e\uff9f\U000101fd\U000102e0\U00010376-\U0001037a\U00010a0d\U00010a0f'
    '\U00010a38-\U00010a3a\U00010a3f\U00010ae5\U00010ae6\U00010d24-\U00010d27'
    '\U00010d69-\U00010d6d\U00010eab\U00010eac\U00010efd-\U00010eff\U00010f46-\U00010f50'
    '\U00010f82-\U00010f85\U00011046\U00011070\U0001107f\U000110b9\U000110ba\U00011100-\U00011102'
    '\U00011133\U00011134\U00011173\U000111c0\U000111ca\U00011235\U00011236\U000112e9\U000112ea'
    '\U0001133b\U0001133c\U0001134d\U00011366-\U0001136c\U00011370-\U00011374'
    '\U000113ce-\U000113d0\U00011442\U00011446\U0001145e\U000114c2\U000114c3\U000115bf\U000115c0'
    '\U0001163f\U000116b6\U000116b7\U0001172b\U00011839\U0001183a\U0001193d\U0001193e\U00011943'
    '\U000119e0\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d42\U00011d44\U00011d45\U00011d97'
    '\U00011f41\U00011f42\U0001612f\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016ff0\U00016ff1'
    '\U0001bc9e\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001d17b-\U0001d182'
    '\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244\U0001e000-\U0001e006'
    '\U0001e008-\U0001e018\U0001e01b-\U0001e021\U0001e023\U0001e024\U0001e026-\U0001e02a'
    '\U0001e08f\U0001e130-\U0001e136\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e4ec-\U0001e4ef'
    '\U0001e5ee\U0001e5ef\U0001e8d0-\U0001e8d6\U0001e944-\U0001e94a]';

-- A text with U+034F after every 30 non-starters that another one follows: twin of `cut_runs` in
-- `notebook/marks.py`. normalize() sorts runs in time quadratic in them, and cannot be cancelled.
CREATE FUNCTION durable_memory.cut_marks_v1(p_text text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN regexp_replace(
    p_text COLLATE "C",
    durable_memory.non_starters_v1() || '{30}(?=' || durable_memory.non_starters_v1() || ')',
    '\&' || U&'\034F',
    'g'
);

-- The form in which text is compared: the twin of `fold` in `notebook/folding.py`. Runs of 12 hold
-- at most 27 marks once they are decomposed, and are not cut.
CREATE FUNCTION durable_memory.fold_v1(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    folded text;
BEGIN
    IF octet_length(p_text) = length(p_text) THEN
        RETURN lower(p_text COLLATE "C");
    END IF;
    IF p_text COLLATE "C" !~ (durable_memory.non_starters_v1() || '{13}') THEN
        RETURN normalize(casefold(normalize(p_text, NFKC) COLLATE pg_unicode_fast), NFKC);
    END IF;
    folded := casefold(
        normalize(durable_memory.cut_marks_v1(p_text), NFKC) COLLATE pg_unicode_fast);
    RETURN normalize(durable_memory.cut_marks_v1(normalize(folded, NFKD)), NFKC);
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
