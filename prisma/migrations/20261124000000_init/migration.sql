-- The whole database of the proxy. It has five kinds of tables:
--   clients and keys  ordinary rows that change
--   records           facts about calls and acts. Rows are only added, and the log seals them
--   erasable          data that names a person. Records hold salted SHA-256 commitments to it, so that an erasure
--                     changes no record
--   work              data that the proxy computes from the records, and can compute again
--   the log           one Merkle tree over all records
--
-- Contents, by the headings of this file:
--   Roles, Versions
--   Names of recipients and countries
--   Clients, Keys and people, Sessions, Pending changes
--   Instances and epochs
--   Records of calls, What can be erased, Documents as rows, Decisions and settlements, Stops and acts
--   Admission, Caps of persons and ephemeral keys, The state of a call
--   Access, erasure, retention
--   The log, The search index
--   Reconciliation, Work of the workers, Space for outcomes
--   Guards and partitions, Views for auditors, Rights
--
-- The large tables are partitioned by month, on an id that begins with its time (UUIDv7). Retention drops
-- whole months. Records have no foreign keys: one writer adds all rows of a call in one statement, and each
-- partition is dropped on its own.
--
-- The column tx of a record is the transaction that wrote it. An id is made before its commit, so a row may
-- commit long after rows with later ids. Once all transactions below a number have ended, no more rows appear
-- below it (pg_snapshot_xmin). A reader that goes by tx therefore misses nothing. The number has no other
-- meaning, and no seal covers it.

-- Roles -----------------------------------------------------------------------------------------------------

-- payout_proxy is the role of the proxy. It inserts and reads records, and cannot change them.
-- payout_sealer reads records and adds to the log.
-- payout_auditor reads views in which people are masked.
DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['payout_proxy', 'payout_sealer', 'payout_auditor'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', role);
    EXCEPTION
      -- The role exists, or the check below reports that it does not.
      WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END LOOP;
END
$$;

-- The owner must be able to take the roles of the proxy and of the sealer.
DO $$
DECLARE
  role text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'payout_auditor') THEN
    RAISE undefined_object;
  END IF;
  FOREACH role IN ARRAY ARRAY['payout_proxy', 'payout_sealer'] LOOP
    -- Postgres 15 and older have no SET option.
    IF NOT pg_has_role(current_user, role, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END) THEN
      EXECUTE format('GRANT %I TO %I', role, current_user);
    END IF;
  END LOOP;
EXCEPTION
  WHEN undefined_object OR insufficient_privilege THEN
    RAISE EXCEPTION 'this database user may not create roles; as an administrator run: CREATE ROLE payout_proxy NOLOGIN; CREATE ROLE payout_sealer NOLOGIN; CREATE ROLE payout_auditor NOLOGIN; GRANT payout_proxy, payout_sealer TO %;', current_user;
END
$$;

-- Versions --------------------------------------------------------------------------------------------------

-- The oldest program that may run on a database with a migration, by the last migration of that program. Each
-- migration adds its own row, because an older program does not have its file
-- (src/platform/database/migrations/applied-migrations.ts).
CREATE TABLE migration_compatibility (
  migration      text PRIMARY KEY,
  oldest_program text NOT NULL CHECK (oldest_program <= migration)
);
INSERT INTO migration_compatibility VALUES ('20261124000000_init', '20261124000000_init');

-- Names of recipients and countries -------------------------------------------------------------------------
-- One canonical key for each recipient, however its name is written (src/recipients/recipient.ts).

-- Returns the characters that a reader sees in a name, each in one form (plainText of
-- src/recipients/plain-text.ts).
CREATE FUNCTION plain_name(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  foreign_digits CONSTANT text NOT NULL := U&'\0660\0661\0662\0663\0664\0665\0666\0667\0668\0669\06f0\06f1\06f2\06f3\06f4\06f5\06f6\06f7\06f8\06f9\07c0\07c1\07c2\07c3\07c4\07c5\07c6\07c7\07c8\07c9\0966\0967\0968\0969\096a\096b\096c\096d\096e\096f\09e6\09e7\09e8\09e9\09ea\09eb\09ec\09ed\09ee\09ef\0a66\0a67\0a68\0a69\0a6a\0a6b\0a6c\0a6d\0a6e\0a6f\0ae6\0ae7\0ae8\0ae9\0aea\0aeb\0aec\0aed\0aee\0aef\0b66\0b67\0b68\0b69\0b6a\0b6b\0b6c\0b6d\0b6e\0b6f\0be6\0be7\0be8\0be9\0bea\0beb\0bec\0bed\0bee\0bef\0c66\0c67\0c68\0c69\0c6a\0c6b\0c6c\0c6d\0c6e\0c6f'
    || U&'\0ce6\0ce7\0ce8\0ce9\0cea\0ceb\0cec\0ced\0cee\0cef\0d66\0d67\0d68\0d69\0d6a\0d6b\0d6c\0d6d\0d6e\0d6f\0e50\0e51\0e52\0e53\0e54\0e55\0e56\0e57\0e58\0e59\0ed0\0ed1\0ed2\0ed3\0ed4\0ed5\0ed6\0ed7\0ed8\0ed9\0f20\0f21\0f22\0f23\0f24\0f25\0f26\0f27\0f28\0f29\1040\1041\1042\1043\1044\1045\1046\1047\1048\1049\17e0\17e1\17e2\17e3\17e4\17e5\17e6\17e7\17e8\17e9\1810\1811\1812\1813\1814\1815\1816\1817\1818\1819';
BEGIN
  IF name ~ '^[!-~]*$' THEN RETURN name; END IF;
  RETURN btrim(translate(normalize(regexp_replace(name,
    '[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]', '', 'g'), NFKC),
    foreign_digits, repeat('0123456789', 18)), E' \t\n\v\f\r\u1680\u2028\u2029');
END $$;

-- Returns text with each capital in lower case, in any locale of the database (smallLetters of
-- src/recipients/plain-text.ts).
CREATE FUNCTION small_letters(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  capitals CONSTANT text NOT NULL :=
    'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĴĶĹĻĽŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƠƢƤƦƧƩƬƮƯƱ'
    || 'ƲƳƵƷƸƼǍǏǑǓǕǗǙǛǞǠǢǤǦǨǪǬǮǴǶǷǸǺǼǾȀȂȄȆȈȊȌȎȐȒȔȖȘȚȜȞȠȢȤȦȨȪȬȮȰȲȺȻȽȾɁɃɄɅɆɈɊɌɎͰͲͶͿΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫϏϘϚϜϞϠϢϤϦϨϪϬϮϷ'
    || 'ϺϽϾϿЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѶѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮ'
    || 'ӰӲӴӶӸӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹႺႻႼႽႾႿჀჁჂჃჄჅჇჍᎠᎡᎢᎣᎤᎥᎦᎧᎨᎩ'
    || 'ᎪᎫᎬᎭᎮᎯᎰᎱᎲᎳᎴᎵᎶᎷᎸᎹᎺᎻᎼᎽᎾᎿᏀᏁᏂᏃᏄᏅᏆᏇᏈᏉᏊᏋᏌᏍᏎᏏᏐᏑᏒᏓᏔᏕᏖᏗᏘᏙᏚᏛᏜᏝᏞᏟᏠᏡᏢᏣᏤᏥᏦᏧᏨᏩᏪᏫᏬᏭᏮᏯᏰᏱᏲᏳᏴᏵᲉᲐᲑᲒᲓᲔᲕᲖᲗᲘᲙᲚᲛᲜᲝᲞᲟᲠᲡᲢᲣᲤᲥᲦᲧᲨᲩᲪᲫᲬᲭᲮᲯᲰᲱᲲᲳᲴᲵᲶᲷᲸᲹᲺ'
    || 'ᲽᲾᲿḀḂḄḆḈḊḌḎḐḒḔḖḘḚḜḞḠḢḤḦḨḪḬḮḰḲḴḶḸḺḼḾṀṂṄṆṈṊṌṎṐṒṔṖṘṚṜṞṠṢṤṦṨṪṬṮṰṲṴṶṸṺṼṾẀẂẄẆẈẊẌẎẐẒẔẞẠẢẤẦẨẪẬẮẰẲẴẶẸẺẼẾỀỂỄỆỈỊỌỎỐỒỔỖỘỚỜỞỠỢỤỦỨỪỬỮỰ'
    || 'ỲỴỶỸỺỼỾἈἉἊἋἌἍἎἏἘἙἚἛἜἝἨἩἪἫἬἭἮἯἸἹἺἻἼἽἾἿὈὉὊὋὌὍὙὛὝὟὨὩὪὫὬὭὮὯᾸᾹᾺῈῊῘῙῚῨῩῪῬῸῺℲↃⰀⰁⰂⰃⰄⰅⰆⰇⰈⰉⰊⰋⰌⰍⰎⰏⰐⰑⰒⰓⰔⰕⰖⰗⰘⰙⰚⰛⰜⰝⰞⰟⰠⰡⰢⰣⰤⰥⰦⰧⰨⰩⰪⰫⰬⰭⰮⰯⱠ'
    || 'ⱢⱣⱤⱧⱩⱫⱭⱮⱯⱰⱲⱵⱾⱿⲀⲂⲄⲆⲈⲊⲌⲎⲐⲒⲔⲖⲘⲚⲜⲞⲠⲢⲤⲦⲨⲪⲬⲮⲰⲲⲴⲶⲸⲺⲼⲾⳀⳂⳄⳆⳈⳊⳌⳎⳐⳒⳔⳖⳘⳚⳜⳞⳠⳢⳫⳭⳲꙀꙂꙄꙆꙈꙊꙌꙎꙐꙒꙔꙖꙘꙚꙜꙞꙠꙢꙤꙦꙨꙪꙬꚀꚂꚄꚆꚈꚊꚌꚎꚐꚒꚔꚖꚘꚚꜢꜤꜦꜨꜪꜬꜮꜲꜴꜶꜸꜺꜼꜾꝀꝂ'
    || 'ꝄꝆꝈꝊꝌꝎꝐꝒꝔꝖꝘꝚꝜꝞꝠꝢꝤꝦꝨꝪꝬꝮꝹꝻꝽꝾꞀꞂꞄꞆꞋꞍꞐꞒꞖꞘꞚꞜꞞꞠꞢꞤꞦꞨꞪꞫꞬꞭꞮꞰꞱꞲꞳꞴꞶꞸꞺꞼꞾꟀꟂꟄꟅꟆꟇꟉꟋꟌ꟎Ꟑ꟒꟔ꟖꟘꟚꟜꟵ';
  small CONSTANT text NOT NULL :=
    'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĵķĺļľłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżžɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵơƣƥʀƨʃƭʈưʊ'
    || 'ʋƴƶʒƹƽǎǐǒǔǖǘǚǜǟǡǣǥǧǩǫǭǯǵƕƿǹǻǽǿȁȃȅȇȉȋȍȏȑȓȕȗșțȝȟƞȣȥȧȩȫȭȯȱȳⱥȼƚⱦɂƀʉʌɇɉɋɍɏͱͳͷϳάέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋϗϙϛϝϟϡϣϥϧϩϫϭϯϸ'
    || 'ϻͻͼͽѐёђѓєѕіїјљњћќѝўџабвгдежзийклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѷѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯ'
    || 'ӱӳӵӷӹӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆⴀⴁⴂⴃⴄⴅⴆⴇⴈⴉⴊⴋⴌⴍⴎⴏⴐⴑⴒⴓⴔⴕⴖⴗⴘⴙⴚⴛⴜⴝⴞⴟⴠⴡⴢⴣⴤⴥⴧⴭꭰꭱꭲꭳꭴꭵꭶꭷꭸꭹ'
    || 'ꭺꭻꭼꭽꭾꭿꮀꮁꮂꮃꮄꮅꮆꮇꮈꮉꮊꮋꮌꮍꮎꮏꮐꮑꮒꮓꮔꮕꮖꮗꮘꮙꮚꮛꮜꮝꮞꮟꮠꮡꮢꮣꮤꮥꮦꮧꮨꮩꮪꮫꮬꮭꮮꮯꮰꮱꮲꮳꮴꮵꮶꮷꮸꮹꮺꮻꮼꮽꮾꮿᏸᏹᏺᏻᏼᏽᲊაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺ'
    || 'ჽჾჿḁḃḅḇḉḋḍḏḑḓḕḗḙḛḝḟḡḣḥḧḩḫḭḯḱḳḵḷḹḻḽḿṁṃṅṇṉṋṍṏṑṓṕṗṙṛṝṟṡṣṥṧṩṫṭṯṱṳṵṷṹṻṽṿẁẃẅẇẉẋẍẏẑẓẕßạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữự'
    || 'ỳỵỷỹỻỽỿἀἁἂἃἄἅἆἇἐἑἒἓἔἕἠἡἢἣἤἥἦἧἰἱἲἳἴἵἶἷὀὁὂὃὄὅὑὓὕὗὠὡὢὣὤὥὦὧᾰᾱὰὲὴῐῑὶῠῡὺῥὸὼⅎↄⰰⰱⰲⰳⰴⰵⰶⰷⰸⰹⰺⰻⰼⰽⰾⰿⱀⱁⱂⱃⱄⱅⱆⱇⱈⱉⱊⱋⱌⱍⱎⱏⱐⱑⱒⱓⱔⱕⱖⱗⱘⱙⱚⱛⱜⱝⱞⱟⱡ'
    || 'ɫᵽɽⱨⱪⱬɑɱɐɒⱳⱶȿɀⲁⲃⲅⲇⲉⲋⲍⲏⲑⲓⲕⲗⲙⲛⲝⲟⲡⲣⲥⲧⲩⲫⲭⲯⲱⲳⲵⲷⲹⲻⲽⲿⳁⳃⳅⳇⳉⳋⳍⳏⳑⳓⳕⳗⳙⳛⳝⳟⳡⳣⳬⳮⳳꙁꙃꙅꙇꙉꙋꙍꙏꙑꙓꙕꙗꙙꙛꙝꙟꙡꙣꙥꙧꙩꙫꙭꚁꚃꚅꚇꚉꚋꚍꚏꚑꚓꚕꚗꚙꚛꜣꜥꜧꜩꜫꜭꜯꜳꜵꜷꜹꜻꜽꜿꝁꝃ'
    || 'ꝅꝇꝉꝋꝍꝏꝑꝓꝕꝗꝙꝛꝝꝟꝡꝣꝥꝧꝩꝫꝭꝯꝺꝼᵹꝿꞁꞃꞅꞇꞌɥꞑꞓꞗꞙꞛꞝꞟꞡꞣꞥꞧꞩɦɜɡɬɪʞʇʝꭓꞵꞷꞹꞻꞽꞿꟁꟃꞔʂᶎꟈꟊɤꟍ꟏ꟑꟓꟕꟗꟙꟛƛꟶ';
BEGIN
  IF name ~ '^[ -~]*$' THEN RETURN lower(name COLLATE "C"); END IF;
  RETURN translate(lower(name COLLATE "C"), capitals, small);
END $$;

-- Returns a label of a domain in ASCII (Punycode, RFC 3492).
CREATE FUNCTION ascii_label(label text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  points CONSTANT bigint[] NOT NULL := ARRAY(SELECT ascii(point) FROM string_to_table(label, NULL) AS point);
  signs CONSTANT text NOT NULL := 'abcdefghijklmnopqrstuvwxyz0123456789';
  basic CONSTANT text NOT NULL := regexp_replace(label, '[^ -~]', '', 'g');
  encoded text NOT NULL := basic || CASE WHEN basic = '' THEN '' ELSE '-' END;
  done bigint NOT NULL := length(basic);
  next bigint NOT NULL := 128;
  delta bigint NOT NULL := 0;
  bias bigint NOT NULL := 72;
  least_left bigint;
  point bigint;
  rest bigint;
  base bigint;
  threshold bigint;
BEGIN
  IF done = length(label) THEN RETURN label; END IF;
  WHILE done < cardinality(points) LOOP
    SELECT min(one) INTO least_left FROM unnest(points) AS one WHERE one >= next;
    delta := delta + (least_left - next) * (done + 1);
    next := least_left;
    FOREACH point IN ARRAY points LOOP
      IF point < next THEN delta := delta + 1; END IF;
      CONTINUE WHEN point <> next;
      rest := delta;
      base := 36;
      LOOP
        threshold := CASE WHEN base <= bias THEN 1 WHEN base >= bias + 26 THEN 26 ELSE base - bias END;
        EXIT WHEN rest < threshold;
        encoded := encoded || substr(signs, (threshold + (rest - threshold) % (36 - threshold))::integer + 1, 1);
        rest := (rest - threshold) / (36 - threshold);
        base := base + 36;
      END LOOP;
      encoded := encoded || substr(signs, rest::integer + 1, 1);
      delta := CASE WHEN done = length(basic) THEN delta / 700 ELSE delta / 2 END;
      delta := delta + delta / (done + 1);
      base := 0;
      WHILE delta > 455 LOOP
        delta := delta / 35;
        base := base + 36;
      END LOOP;
      bias := base + 36 * delta / (delta + 38);
      delta := 0;
      done := done + 1;
    END LOOP;
    delta := delta + 1;
    next := next + 1;
  END LOOP;
  RETURN 'xn--' || encoded;
END $$;

-- Returns the canonical key of an email address (emailKey of src/recipients/recipient.ts).
CREATE FUNCTION email_key(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  plain CONSTANT text NOT NULL := small_letters(plain_name(name));
  mailbox CONSTANT text := substring(plain FROM '^(.*)@[^@]*$');
  domain text := substring(plain FROM '@([^@]*)$');
BEGIN
  IF domain ~ '[^!-~]' THEN
    domain := (SELECT string_agg(ascii_label(label), '.' ORDER BY place)
      FROM string_to_table(translate(domain, '。', '.'), '.') WITH ORDINALITY AS l(label, place));
  END IF;
  domain := regexp_replace(domain, '\.$', '');
  IF coalesce(mailbox, '') = '' OR domain = '' OR mailbox || domain ~ '[\s@*•\u1680\u2028\u2029]' THEN RETURN NULL; END IF;
  RETURN mailbox || '@' || domain;
END $$;

-- Returns the canonical key of a phone number (phoneKey of src/recipients/recipient.ts, with the table of
-- numbering-plan.ts).
CREATE FUNCTION phone_key(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  written CONSTANT text NOT NULL := regexp_replace(plain_name(name), '[\s()./\-\u1680\u2028\u2029\u00b7\u2212\u058a\u05be\u1400\u1806\u2010\u2012\u2013\u2014\u2015\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0]', '', 'g');
  spelled CONSTANT text := substring(written FROM '^\+?([0-9]+)$');
  after_00 CONSTANT boolean NOT NULL := written LIKE '00%' AND length(written) >= 9;
  digits CONSTANT text := CASE WHEN length(spelled) - CASE WHEN after_00 THEN 2 ELSE 0 END BETWEEN 7 AND 24 THEN ltrim(spelled, '0') END;
  code CONSTANT text := substring(digits FROM
    '^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[03578]|9[679])[0-9])');
  national CONSTANT text := substr(digits, length(code) + 1);
BEGIN
  IF digits IS NULL THEN RETURN NULL; END IF;
  IF written LIKE '0%' AND NOT after_00 THEN RETURN 'tel:' || digits; END IF;
  RETURN '+' || coalesce(code, '') || CASE code
    WHEN '1' THEN regexp_replace(national, '^1(?=[0-9]{10}$)', '')
    WHEN '7' THEN regexp_replace(national, '^8(?=[0-9]{10}$)', '')
    WHEN '36' THEN regexp_replace(national, '^06(?=[0-9]{8,9}$)', '')
    WHEN '370' THEN regexp_replace(national, '^[08](?=[0-9]{8}$)', '')
    WHEN '375' THEN regexp_replace(national, '^80?(?=[0-9]{9}$)', '')
    WHEN '993' THEN regexp_replace(national, '^8(?=[0-9]{8}$)', '')
    WHEN '52' THEN regexp_replace(national, '^0?1?(?=[0-9]{10}$)', '')
    WHEN '229' THEN CASE length(national) WHEN 8 THEN '01' ELSE '' END || national
    WHEN '39' THEN national WHEN '225' THEN national WHEN '226' THEN national
    WHEN '241' THEN national WHEN '242' THEN national WHEN '378' THEN national
    ELSE coalesce(ltrim(national, '0'), digits) END;
END $$;

-- Returns the canonical key of a handle (src/recipients/recipient.ts).
CREATE FUNCTION handle_key(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT regexp_replace(handle, '^@*', '@') FROM (SELECT small_letters(plain_name(name)) AS handle) AS plain
  WHERE handle ~ '^@*[a-z0-9_][a-z0-9_.-]*$' AND length(ltrim(handle, '@')) <= 64
$$;

-- Returns the canonical key of a sub-account, which may be named by a contact (src/recipients/recipient.ts).
CREATE FUNCTION receiver_key(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE
    WHEN plain LIKE '@%' THEN handle_key(plain)
    WHEN plain LIKE '%@%' THEN email_key(plain)
    WHEN plain LIKE '+%' THEN phone_key(plain)
    ELSE plain END
  FROM (SELECT plain_name(name) AS plain) AS visible WHERE plain <> '' AND plain !~ '[*•]'
$$;

-- Returns the canonical key of a recipient's name: an email, phone, handle or receiver (recipientKey of
-- src/recipients/recipient.ts). It is inlined, and names that are canonical at first sight cost one
-- comparison. Counted repetitions would take ten times as long.
CREATE FUNCTION recipient_key(kind text, name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE kind
    WHEN 'email' THEN CASE WHEN name ~ '^[a-z0-9._+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+$' THEN name ELSE email_key(name) END
    WHEN 'phone' THEN CASE WHEN name ~ '^\+2(?:1[0-9]|2[0-8]|[3-689][0-9])[1-9][0-9]+$' AND length(name) BETWEEN 8 AND 25 THEN name
      ELSE phone_key(name) END
    WHEN 'handle' THEN CASE WHEN name ~ '^@[a-z0-9_][a-z0-9_.-]*$' AND length(name) <= 65 THEN name ELSE handle_key(name) END
    WHEN 'receiver' THEN CASE WHEN name ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$' THEN name ELSE receiver_key(name) END
  END
$$;

-- Returns a key for a country's name: its letters and digits without accents, in lower case (normalise of
-- src/recipients/country-name.ts).
CREATE FUNCTION country_key(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(nullif(lower(regexp_replace(normalize(name, NFKD),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u02b0-\u036f\u2000-\u206f\u3000-\u303f\ufe00-\ufe0f\ufeff]', '', 'g') COLLATE "C"), ''), name)
$$;

-- Returns the code of a country (ISO 3166-1 alpha-2) by a key of its name. Null if none is known. Postgres inlines
-- the function, and reads its constant once for each plan.
CREATE FUNCTION country_code(key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '{
    "ac":"AC","ascensionisland":"AC","iledelascension":"AC","ad":"AD","and":"AD","andorra":"AD","andorre":"AD","ae":"AE","are":"AE",
    "emiratsarabesunis":"AE","uae":"AE","unitedarabemirates":"AE","af":"AF","afg":"AF","afghanistan":"AF","ag":"AG",
    "antiguaandbarbuda":"AG","antiguabarbuda":"AG","antiguaetbarbuda":"AG","atg":"AG","ai":"AI","aia":"AI","anguilla":"AI","al":"AL",
    "alb":"AL","albania":"AL","albanie":"AL","am":"AM","arm":"AM","armenia":"AM","armenie":"AM","ago":"AO","angola":"AO","ao":"AO",
    "republicofangola":"AO","ar":"AR","arg":"AR","argentina":"AR","argentine":"AR","americansamoa":"AS","as":"AS","asm":"AS",
    "samoaamericaines":"AS","at":"AT","austria":"AT","aut":"AT","autriche":"AT","au":"AU","aus":"AU","australia":"AU",
    "australie":"AU","abw":"AW","aruba":"AW","aw":"AW","ala":"AX","alandislands":"AX","ax":"AX","ilesaland":"AX","az":"AZ",
    "aze":"AZ","azerbaidjan":"AZ","azerbaijan":"AZ","ba":"BA","bih":"BA","bosnia":"BA","bosniaandherzegovina":"BA",
    "bosniaherzegovina":"BA","bosnieherzegovine":"BA","barbade":"BB","barbados":"BB","bb":"BB","brb":"BB","bangladesh":"BD",
    "bd":"BD","bgd":"BD","be":"BE","bel":"BE","belgique":"BE","belgium":"BE","bf":"BF","bfa":"BF","burkinafaso":"BF","bg":"BG",
    "bgr":"BG","bulgaria":"BG","bulgarie":"BG","bahrain":"BH","bahrein":"BH","bh":"BH","bhr":"BH","bdi":"BI","bi":"BI",
    "burundi":"BI","republicofburundi":"BI","ben":"BJ","benin":"BJ","bj":"BJ","republicofbenin":"BJ","bl":"BL","blm":"BL",
    "saintbarthelemy":"BL","stbarthelemy":"BL","bermuda":"BM","bermudes":"BM","bm":"BM","bmu":"BM","bn":"BN","brn":"BN",
    "brunei":"BN","bruneidarussalam":"BN","bo":"BO","bol":"BO","bolivia":"BO","boliviaplurinationalstateof":"BO","bolivie":"BO",
    "bes":"BQ","bq":"BQ","caribbeannetherlands":"BQ","paysbascaribeens":"BQ","br":"BR","bra":"BR","brazil":"BR","bresil":"BR",
    "bahamas":"BS","bhs":"BS","bs":"BS","bhoutan":"BT","bhutan":"BT","bt":"BT","btn":"BT","botswana":"BW","bw":"BW","bwa":"BW",
    "republicofbotswana":"BW","belarus":"BY","bielorussie":"BY","blr":"BY","by":"BY","belize":"BZ","blz":"BZ","bz":"BZ","ca":"CA",
    "can":"CA","canada":"CA","cc":"CC","cck":"CC","cocosislands":"CC","cocoskeelingislands":"CC","ilescocos":"CC","cd":"CD",
    "cod":"CD","congodemocraticrepublic":"CD","congodemocraticrepublicofthe":"CD","congodemrep":"CD","congodrc":"CD",
    "congokinshasa":"CD","congothedemocraticrepublicofthe":"CD","democraticrepublicofcongo":"CD","democraticrepublicofthecongo":"CD",
    "demrepofthecongo":"CD","drc":"CD","drcongo":"CD","zaire":"CD","caf":"CF","centralafricanrepublic":"CF","cf":"CF",
    "republiquecentrafricaine":"CF","cg":"CG","cog":"CG","congo":"CG","congobrazzaville":"CG","congorep":"CG","congorepublic":"CG",
    "congorepublicofthe":"CG","republicofthecongo":"CG","ch":"CH","che":"CH","suisse":"CH","switzerland":"CH","ci":"CI","civ":"CI",
    "cotedivoire":"CI","ivorycoast":"CI","republicofcotedivoire":"CI","ck":"CK","cok":"CK","cookislands":"CK","ilescook":"CK",
    "chile":"CL","chili":"CL","chl":"CL","cl":"CL","cameroon":"CM","cameroun":"CM","cm":"CM","cmr":"CM","republicofcameroon":"CM",
    "china":"CN","chine":"CN","chn":"CN","cn":"CN","co":"CO","col":"CO","colombia":"CO","colombie":"CO","costarica":"CR","cr":"CR",
    "cri":"CR","cu":"CU","cub":"CU","cuba":"CU","caboverde":"CV","capeverde":"CV","capvert":"CV","cpv":"CV","cv":"CV","curacao":"CW",
    "cuw":"CW","cw":"CW","christmasisland":"CX","cx":"CX","cxr":"CX","ilechristmas":"CX","chypre":"CY","cy":"CY","cyp":"CY",
    "cyprus":"CY","cz":"CZ","cze":"CZ","czechia":"CZ","czechrepublic":"CZ","tchequie":"CZ","allemagne":"DE","de":"DE","deu":"DE",
    "germany":"DE","dj":"DJ","dji":"DJ","djibouti":"DJ","danemark":"DK","denmark":"DK","dk":"DK","dnk":"DK","dm":"DM","dma":"DM",
    "dominica":"DM","dominique":"DM","do":"DO","dom":"DO","dominicanrepublic":"DO","republiquedominicaine":"DO","algeria":"DZ",
    "algerie":"DZ","dz":"DZ","dza":"DZ","ec":"EC","ecu":"EC","ecuador":"EC","equateur":"EC","ee":"EE","est":"EE","estonia":"EE",
    "estonie":"EE","arabrepublicofegypt":"EG","eg":"EG","egy":"EG","egypt":"EG","egyptarabrep":"EG","egypte":"EG","eh":"EH",
    "esh":"EH","saharaoccidental":"EH","westernsahara":"EH","er":"ER","eri":"ER","eritrea":"ER","erythree":"ER","es":"ES","esp":"ES",
    "espagne":"ES","spain":"ES","et":"ET","eth":"ET","ethiopia":"ET","ethiopie":"ET","federaldemocraticrepublicofethiopia":"ET",
    "fi":"FI","fin":"FI","finland":"FI","finlande":"FI","fidji":"FJ","fiji":"FJ","fj":"FJ","fji":"FJ","falklandislands":"FK",
    "fk":"FK","flk":"FK","ilesmalouines":"FK","fm":"FM","fsm":"FM","micronesia":"FM","micronesiafederatedstatesof":"FM",
    "micronesiafedsts":"FM","micronesie":"FM","faroeislands":"FO","fo":"FO","fro":"FO","ilesferoe":"FO","fr":"FR","fra":"FR",
    "france":"FR","ga":"GA","gab":"GA","gabon":"GA","gb":"GB","gbr":"GB","greatbritain":"GB","royaumeuni":"GB","uk":"GB",
    "unitedkingdom":"GB","unitedkingdomofgreatbritainandnorthernireland":"GB","gd":"GD","grd":"GD","grenada":"GD","grenade":"GD",
    "ge":"GE","geo":"GE","georgia":"GE","georgie":"GE","frenchguiana":"GF","gf":"GF","guf":"GF","guyanefrancaise":"GF","gg":"GG",
    "ggy":"GG","guernesey":"GG","guernsey":"GG","gh":"GH","gha":"GH","ghana":"GH","republicofghana":"GH","gi":"GI","gib":"GI",
    "gibraltar":"GI","gl":"GL","greenland":"GL","grl":"GL","groenland":"GL","gambia":"GM","gambie":"GM","gm":"GM","gmb":"GM",
    "republicofthegambia":"GM","thegambia":"GM","gin":"GN","gn":"GN","guinea":"GN","guinee":"GN","republicofguinea":"GN","glp":"GP",
    "gp":"GP","guadeloupe":"GP","equatorialguinea":"GQ","gnq":"GQ","gq":"GQ","guineeequatoriale":"GQ","gr":"GR","grc":"GR",
    "grece":"GR","greece":"GR","gt":"GT","gtm":"GT","guatemala":"GT","gu":"GU","guam":"GU","gum":"GU","gnb":"GW","guineabissau":"GW",
    "guineebissau":"GW","gw":"GW","republicofguineabissau":"GW","guy":"GY","guyana":"GY","gy":"GY","hk":"HK","hkg":"HK",
    "hongkong":"HK","hongkongsarchina":"HK","raschinoisedehongkong":"HK","hn":"HN","hnd":"HN","honduras":"HN","croatia":"HR",
    "croatie":"HR","hr":"HR","hrv":"HR","haiti":"HT","ht":"HT","hti":"HT","hongrie":"HU","hu":"HU","hun":"HU","hungary":"HU",
    "id":"ID","idn":"ID","indonesia":"ID","indonesie":"ID","ie":"IE","ireland":"IE","irl":"IE","irlande":"IE","il":"IL","isr":"IL",
    "israel":"IL","iledeman":"IM","im":"IM","imn":"IM","isleofman":"IM","in":"IN","ind":"IN","inde":"IN","india":"IN",
    "britishindianoceanterritory":"IO","io":"IO","iot":"IO","territoirebritanniquedeloceanindien":"IO","iq":"IQ","irak":"IQ",
    "iraq":"IQ","irq":"IQ","ir":"IR","iran":"IR","iranislamicrep":"IR","iranislamicrepublicof":"IR","irn":"IR","iceland":"IS",
    "is":"IS","isl":"IS","islande":"IS","it":"IT","ita":"IT","italie":"IT","italy":"IT","je":"JE","jersey":"JE","jey":"JE",
    "jam":"JM","jamaica":"JM","jamaique":"JM","jm":"JM","jo":"JO","jor":"JO","jordan":"JO","jordanie":"JO","japan":"JP","japon":"JP",
    "jp":"JP","jpn":"JP","ke":"KE","ken":"KE","kenya":"KE","republicofkenya":"KE","kg":"KG","kgz":"KG","kirghizstan":"KG",
    "kyrgyzrepublic":"KG","kyrgyzstan":"KG","cambodge":"KH","cambodia":"KH","kh":"KH","khm":"KH","ki":"KI","kir":"KI",
    "kiribati":"KI","com":"KM","comores":"KM","comoros":"KM","km":"KM","kn":"KN","kna":"KN","saintchristopheetnieves":"KN",
    "saintkittsandnevis":"KN","stkittsnevis":"KN","coreedunord":"KP","koreademocraticpeoplesrepublicof":"KP",
    "koreadempeoplesrep":"KP","kp":"KP","northkorea":"KP","prk":"KP","coreedusud":"KR","kor":"KR","korea":"KR","korearep":"KR",
    "korearepublicof":"KR","kr":"KR","republicofkorea":"KR","southkorea":"KR","koweit":"KW","kuwait":"KW","kw":"KW","kwt":"KW",
    "caymanislands":"KY","cym":"KY","ilescaimans":"KY","ky":"KY","kaz":"KZ","kazakhstan":"KZ","kz":"KZ","la":"LA","lao":"LA",
    "laopdr":"LA","laopeoplesdemocraticrepublic":"LA","laos":"LA","lb":"LB","lbn":"LB","lebanon":"LB","liban":"LB","lc":"LC",
    "lca":"LC","saintelucie":"LC","saintlucia":"LC","stlucia":"LC","li":"LI","lie":"LI","liechtenstein":"LI","lk":"LK","lka":"LK",
    "srilanka":"LK","lbr":"LR","liberia":"LR","lr":"LR","republicofliberia":"LR","lesotho":"LS","ls":"LS","lso":"LS",
    "lithuania":"LT","lituanie":"LT","lt":"LT","ltu":"LT","lu":"LU","lux":"LU","luxembourg":"LU","latvia":"LV","lettonie":"LV",
    "lv":"LV","lva":"LV","lby":"LY","libya":"LY","libye":"LY","ly":"LY","ma":"MA","mar":"MA","maroc":"MA","morocco":"MA","mc":"MC",
    "mco":"MC","monaco":"MC","md":"MD","mda":"MD","moldavie":"MD","moldova":"MD","moldovarepublicof":"MD","republicofmoldova":"MD",
    "me":"ME","mne":"ME","montenegro":"ME","maf":"MF","mf":"MF","saintmartin":"MF","saintmartinfrenchpart":"MF","stmartin":"MF",
    "stmartinfrenchpart":"MF","madagascar":"MG","mdg":"MG","mg":"MG","republicofmadagascar":"MG","ilesmarshall":"MH",
    "marshallislands":"MH","mh":"MH","mhl":"MH","macedoinedunord":"MK","macedonia":"MK","mk":"MK","mkd":"MK","northmacedonia":"MK",
    "mali":"ML","ml":"ML","mli":"ML","republicofmali":"ML","burma":"MM","mm":"MM","mmr":"MM","myanmar":"MM","myanmarbirmanie":"MM",
    "myanmarburma":"MM","mn":"MN","mng":"MN","mongolia":"MN","mongolie":"MN","mac":"MO","macao":"MO","macaosarchina":"MO",
    "macau":"MO","mo":"MO","raschinoisedemacao":"MO","ilesmariannesdunord":"MP","mnp":"MP","mp":"MP","northernmarianaislands":"MP",
    "martinique":"MQ","mq":"MQ","mtq":"MQ","mauritania":"MR","mauritanie":"MR","mr":"MR","mrt":"MR","montserrat":"MS","ms":"MS",
    "msr":"MS","malta":"MT","malte":"MT","mlt":"MT","mt":"MT","maurice":"MU","mauritius":"MU","mu":"MU","mus":"MU","maldives":"MV",
    "mdv":"MV","mv":"MV","malawi":"MW","mw":"MW","mwi":"MW","republicofmalawi":"MW","mex":"MX","mexico":"MX","mexique":"MX",
    "mx":"MX","malaisie":"MY","malaysia":"MY","my":"MY","mys":"MY","moz":"MZ","mozambique":"MZ","mz":"MZ",
    "republicofmozambique":"MZ","na":"NA","nam":"NA","namibia":"NA","namibie":"NA","republicofnamibia":"NA","nc":"NC","ncl":"NC",
    "newcaledonia":"NC","nouvellecaledonie":"NC","ne":"NE","ner":"NE","niger":"NE","republicofniger":"NE","ilenorfolk":"NF",
    "nf":"NF","nfk":"NF","norfolkisland":"NF","federalrepublicofnigeria":"NG","ng":"NG","nga":"NG","nigeria":"NG","ni":"NI",
    "nic":"NI","nicaragua":"NI","netherlands":"NL","nl":"NL","nld":"NL","paysbas":"NL","no":"NO","nor":"NO","norvege":"NO",
    "norway":"NO","nepal":"NP","np":"NP","npl":"NP","nauru":"NR","nr":"NR","nru":"NR","niu":"NU","niue":"NU","nu":"NU",
    "newzealand":"NZ","nouvellezelande":"NZ","nz":"NZ","nzl":"NZ","om":"OM","oman":"OM","omn":"OM","pa":"PA","pan":"PA",
    "panama":"PA","pe":"PE","per":"PE","perou":"PE","peru":"PE","frenchpolynesia":"PF","pf":"PF","polynesiefrancaise":"PF",
    "pyf":"PF","papouasienouvelleguinee":"PG","papuanewguinea":"PG","pg":"PG","png":"PG","ph":"PH","philippines":"PH","phl":"PH",
    "pak":"PK","pakistan":"PK","pk":"PK","pl":"PL","pol":"PL","poland":"PL","pologne":"PL","pm":"PM","saintpierreandmiquelon":"PM",
    "saintpierreetmiquelon":"PM","spm":"PM","stpierremiquelon":"PM","portorico":"PR","pr":"PR","pri":"PR","puertorico":"PR",
    "palestine":"PS","palestinestateof":"PS","palestinianterritories":"PS","ps":"PS","pse":"PS","stateofpalestine":"PS",
    "territoirespalestiniens":"PS","westbankandgaza":"PS","portugal":"PT","prt":"PT","pt":"PT","palaos":"PW","palau":"PW","plw":"PW",
    "pw":"PW","paraguay":"PY","pry":"PY","py":"PY","qa":"QA","qat":"QA","qatar":"QA","lareunion":"RE","re":"RE","reu":"RE",
    "reunion":"RE","ro":"RO","romania":"RO","rou":"RO","roumanie":"RO","rs":"RS","serbia":"RS","serbie":"RS","srb":"RS","ru":"RU",
    "rus":"RU","russia":"RU","russianfederation":"RU","russie":"RU","republicofrwanda":"RW","rw":"RW","rwa":"RW","rwanda":"RW",
    "arabiesaoudite":"SA","sa":"SA","sau":"SA","saudiarabia":"SA","ilessalomon":"SB","sb":"SB","slb":"SB","solomonislands":"SB",
    "sc":"SC","seychelles":"SC","syc":"SC","sd":"SD","sdn":"SD","soudan":"SD","sudan":"SD","se":"SE","suede":"SE","swe":"SE",
    "sweden":"SE","sg":"SG","sgp":"SG","singapore":"SG","singapour":"SG","saintehelene":"SH","sainthelena":"SH","sh":"SH","shn":"SH",
    "sthelena":"SH","si":"SI","slovenia":"SI","slovenie":"SI","svn":"SI","sj":"SJ","sjm":"SJ","svalbardandjanmayen":"SJ",
    "svalbardetjanmayen":"SJ","svalbardjanmayen":"SJ","sk":"SK","slovakia":"SK","slovakrepublic":"SK","slovaquie":"SK","svk":"SK",
    "republicofsierraleone":"SL","sierraleone":"SL","sl":"SL","sle":"SL","saintmarin":"SM","sanmarino":"SM","sm":"SM","smr":"SM",
    "republicofsenegal":"SN","sen":"SN","senegal":"SN","sn":"SN","federalrepublicofsomalia":"SO","so":"SO","som":"SO","somalia":"SO",
    "somaliafedrep":"SO","somalie":"SO","sr":"SR","sur":"SR","suriname":"SR","republicofsouthsudan":"SS","soudandusud":"SS",
    "southsudan":"SS","ss":"SS","ssd":"SS","saotomeandprincipe":"ST","saotomeetprincipe":"ST","saotomeprincipe":"ST","st":"ST",
    "stp":"ST","elsalvador":"SV","salvador":"SV","slv":"SV","sv":"SV","saintmartinpartieneerlandaise":"SX","sintmaarten":"SX",
    "sintmaartendutchpart":"SX","sx":"SX","sxm":"SX","sy":"SY","syr":"SY","syria":"SY","syrianarabrepublic":"SY","syrie":"SY",
    "eswatini":"SZ","eswatiniswaziland":"SZ","swaziland":"SZ","swz":"SZ","sz":"SZ","ta":"TA","tristandacunha":"TA",
    "ilesturquesetcaiques":"TC","tc":"TC","tca":"TC","turksandcaicosislands":"TC","turkscaicosislands":"TC","chad":"TD",
    "republicofchad":"TD","tcd":"TD","tchad":"TD","td":"TD","tg":"TG","tgo":"TG","togo":"TG","th":"TH","tha":"TH","thailand":"TH",
    "thailande":"TH","tadjikistan":"TJ","tajikistan":"TJ","tj":"TJ","tjk":"TJ","tk":"TK","tkl":"TK","tokelau":"TK","easttimor":"TL",
    "timorleste":"TL","timororiental":"TL","tl":"TL","tls":"TL","tkm":"TM","tm":"TM","turkmenistan":"TM","tn":"TN","tun":"TN",
    "tunisia":"TN","tunisie":"TN","to":"TO","ton":"TO","tonga":"TO","tr":"TR","tur":"TR","turkey":"TR","turkiye":"TR","turquie":"TR",
    "trinidadandtobago":"TT","trinidadtobago":"TT","triniteettobago":"TT","tt":"TT","tto":"TT","tuv":"TV","tuvalu":"TV","tv":"TV",
    "taiwan":"TW","taiwanprovinceofchina":"TW","tw":"TW","twn":"TW","tanzania":"TZ","tanzaniaunitedrepublicof":"TZ","tanzanie":"TZ",
    "tz":"TZ","tza":"TZ","unitedrepoftanzania":"TZ","unitedrepublicoftanzania":"TZ","ua":"UA","ukr":"UA","ukraine":"UA",
    "ouganda":"UG","republicofuganda":"UG","ug":"UG","uga":"UG","uganda":"UG","etatsunis":"US","unitedstates":"US",
    "unitedstatesofamerica":"US","us":"US","usa":"US","uruguay":"UY","ury":"UY","uy":"UY","ouzbekistan":"UZ","uz":"UZ","uzb":"UZ",
    "uzbekistan":"UZ","etatdelaciteduvatican":"VA","holysee":"VA","va":"VA","vat":"VA","vaticancity":"VA",
    "saintvincentandgrenadines":"VC","saintvincentetlesgrenadines":"VC","stvincentgrenadines":"VC","vc":"VC","vct":"VC","ve":"VE",
    "ven":"VE","venezuela":"VE","venezuelabolivarianrepublicof":"VE","venezuelarb":"VE","britishvirginislands":"VG",
    "ilesviergesbritanniques":"VG","vg":"VG","vgb":"VG","virginislandsbritish":"VG","ilesviergesdesetatsunis":"VI",
    "usvirginislands":"VI","vi":"VI","vir":"VI","virginislandsus":"VI","vietnam":"VN","vn":"VN","vnm":"VN","vanuatu":"VU","vu":"VU",
    "vut":"VU","wallisandfutuna":"WF","wallisetfutuna":"WF","wallisfutuna":"WF","wf":"WF","wlf":"WF","samoa":"WS","ws":"WS",
    "wsm":"WS","kosovo":"XK","xk":"XK","xkx":"XK","republicofyemen":"YE","ye":"YE","yem":"YE","yemen":"YE","yemenrep":"YE",
    "mayotte":"YT","myt":"YT","yt":"YT","afriquedusud":"ZA","republicofsouthafrica":"ZA","southafrica":"ZA","za":"ZA","zaf":"ZA",
    "republicofzambia":"ZM","zambia":"ZM","zambie":"ZM","zm":"ZM","zmb":"ZM","republicofzimbabwe":"ZW","zimbabwe":"ZW","zw":"ZW",
    "zwe":"ZW"
  }'::jsonb ->> key
$$;

-- Returns the canonical form of a country: its code, or the key of a name that is not known (canonicalCountry of
-- src/recipients/country-name.ts, whose test compares the two).
CREATE FUNCTION canonical_country(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(country_code(country_key(name)), country_code(regexp_replace(country_key(name), '^the|the$', '')), country_key(name))
$$;

-- Clients ---------------------------------------------------------------------------------------------------

-- A limit that is null or an empty list does not apply.
CREATE TABLE client (
  id                      uuid PRIMARY KEY,
  name                    text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  -- A server has secret keys. A public client, such as a mobile app, has none: only ephemeral keys and access
  -- tokens.
  kind                    text NOT NULL DEFAULT 'server' CHECK (kind IN ('server', 'public')),
  account                 text NOT NULL DEFAULT 'main' CHECK (account ~ '^[a-z][a-z0-9-]{0,23}$'), -- at the upstream
  scopes                  text[] NOT NULL,
  -- The operations that the client may use. Null means all of them, including future ones. An empty list is
  -- rejected, because some readers cannot tell it from null. To shut a client out, revoke its keys.
  operations              text[] CHECK (cardinality(operations) > 0 AND array_position(operations, NULL) IS NULL),
  daily_cap_usd           numeric(20,6) CHECK (daily_cap_usd >= 0),
  monthly_cap_usd         numeric(20,6) CHECK (monthly_cap_usd >= 0),
  max_item_usd            numeric(20,6) CHECK (max_item_usd >= 0),
  max_call_usd            numeric(20,6) CHECK (max_call_usd >= 0),
  approval_over_usd       numeric(20,6) CHECK (approval_over_usd >= 0),
  approval_over_recipient_day_usd numeric(20,6) CHECK (approval_over_recipient_day_usd >= 0),
  approval_over_day_usd   numeric(20,6) CHECK (approval_over_day_usd >= 0),
  max_recipient_day_usd   numeric(20,6) CHECK (max_recipient_day_usd >= 0),
  hold_duplicates_days    integer CHECK (hold_duplicates_days > 0),
  max_items               integer CHECK (max_items > 0),
  requests_per_minute     integer CHECK (requests_per_minute > 0),
  -- Default limits of each person. Null sets none. A person may have limits of their own instead (person).
  person_daily_cap_usd    numeric(20,6) CHECK (person_daily_cap_usd >= 0),
  person_monthly_cap_usd  numeric(20,6) CHECK (person_monthly_cap_usd >= 0),
  person_max_item_usd     numeric(20,6) CHECK (person_max_item_usd > 0),
  person_requests_per_minute integer CHECK (person_requests_per_minute > 0),
  countries               text[] NOT NULL DEFAULT '{}',
  allow_foreign_numbers   boolean NOT NULL DEFAULT FALSE, -- phone numbers may belong to other countries than the item's
  beneficiaries_only      boolean NOT NULL DEFAULT FALSE, -- only recipients that are registered as allowed
  -- A payout to a recipient registered less than this many seconds ago needs an approval. Null disables the
  -- rule.
  beneficiary_cool_off_seconds integer CHECK (beneficiary_cool_off_seconds > 0),
  -- Whether it has blocked recipients. Admission reads the register only of clients that use it. Each change
  -- of the register locks the client and keeps this column right, so a caller that was looked up before is
  -- looked up again.
  blocks_recipients       boolean NOT NULL DEFAULT FALSE,
  addresses               text[] NOT NULL DEFAULT '{}', -- CIDR blocks that the client may call from
  origins                 text[] NOT NULL DEFAULT '{}', -- web origins whose pages may call (CORS)
  require_idempotency_key boolean NOT NULL DEFAULT false,
  -- The provider of the client's access tokens (RFC 9068). Null takes none.
  token_issuer            text,
  token_audience          text,
  token_jwks_uri          text,
  token_algorithms        text[] NOT NULL DEFAULT '{}',
  token_client_id         text, -- the client at the provider
  token_dpop              boolean NOT NULL DEFAULT FALSE, -- whether tokens must be bound to a key of the app (RFC 9449)
  token_max_age           integer NOT NULL DEFAULT 86400 CHECK (token_max_age > 0), -- seconds from their iat
  -- The provider of the client's page sessions. Null for none. The proxy itself asks it.
  page_issuer             text,
  page_client_id          text, -- the client at the provider
  -- The sandbox that a demo client may pay with: SHA-256 of the sandbox's address and key. Empty if the
  -- sandbox is not known, and null for every other client. The proxy does not start with another upstream
  -- while a demo client has a valid key.
  demo_of                 bytea,
  created_at              timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT client_token_source CHECK (
    (token_issuer IS NULL) = (token_audience IS NULL) AND (token_issuer IS NULL) = (token_jwks_uri IS NULL)
    AND (token_issuer IS NULL) = (token_client_id IS NULL) AND (token_issuer IS NULL) = (cardinality(token_algorithms) = 0)),
  CONSTRAINT client_token_client UNIQUE (token_issuer, token_client_id),
  CONSTRAINT client_page_source CHECK ((page_issuer IS NULL) = (page_client_id IS NULL)),
  CONSTRAINT client_page_client UNIQUE (page_issuer, page_client_id)
);

-- The account of its calls, its caps and its objects. A client of another account is another client.
CREATE FUNCTION forbid_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a client keeps its upstream account' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER client_keeps_account BEFORE UPDATE ON client
FOR EACH ROW WHEN (NEW.account <> OLD.account) EXECUTE FUNCTION forbid_account_change();

-- A client keeps its kind, as it keeps its account. A server that became public would keep its secret keys.
CREATE FUNCTION forbid_kind_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a client keeps its kind' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER client_keeps_kind BEFORE UPDATE ON client
FOR EACH ROW WHEN (NEW.kind <> OLD.kind) EXECUTE FUNCTION forbid_kind_change();

-- The register of each client. A recipient may be on both lists; then it is blocked. This is work, not a
-- record: each change is an act.
CREATE TABLE beneficiary (
  id            uuid PRIMARY KEY,
  client_id     uuid NOT NULL REFERENCES client (id),
  list          text NOT NULL CHECK (list IN ('allowed', 'blocked')),
  kind          text NOT NULL CHECK (kind IN ('email', 'phone', 'handle', 'receiver')),
  recipient     bytea NOT NULL, -- SHA-256 of the client and the canonical key of the recipient (src/access/clients/register-writes.ts)
  masked        text, -- for people. Null after an erasure, which leaves a blocked recipient blocked
  registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (recipient, list) -- the recipient includes the client
);
CREATE INDEX beneficiary_client ON beneficiary (client_id, id);

-- Keys and people -------------------------------------------------------------------------------------------

-- One row for each human, as one scope knows them. A person of a client is known in its scope, and has limits
-- there. A member of staff, who owns keys or signs in to the console, is known in the whole installation.
-- Only people of clients have names here, because those of staff are in api_key. Rules compare IDs. This is
-- work, not a record: records hold the ID and a commitment, SHA-256(salt || name).
CREATE TABLE person (
  id                  uuid PRIMARY KEY, -- UUIDv7
  client_id           uuid REFERENCES client (id), -- null for staff
  same_as             uuid REFERENCES person (id), -- the person that this one was merged into, who is not merged
  sha256              bytea NOT NULL UNIQUE, -- of the client, the issuer and the name (src/access/people/persons.service.ts)
  issuer              text, -- of the tokens. Null if the client names the person
  name                text, -- the subject, or the client's name for the person. Null after an erasure
  salt                bytea, -- a new one each time a name is set
  first_seen_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Limits instead of the client's. Null keeps the client's.
  daily_cap_usd       numeric(20,6) CHECK (daily_cap_usd >= 0),
  monthly_cap_usd     numeric(20,6) CHECK (monthly_cap_usd >= 0),
  max_item_usd        numeric(20,6) CHECK (max_item_usd > 0),
  requests_per_minute integer CHECK (requests_per_minute > 0),
  revoked_at          timestamptz, -- tokens and ephemeral keys from before are refused
  forget_after        timestamptz, -- removal of an erased person's hash. Null if not erased, or removed
  CHECK ((name IS NULL) = (salt IS NULL)),
  CHECK (name IS NULL OR forget_after IS NULL),
  CONSTRAINT person_same_as CHECK (same_as <> id)
);
CREATE INDEX person_client ON person (client_id, id);
CREATE INDEX person_forget_after ON person (forget_after) WHERE forget_after IS NOT NULL;
CREATE INDEX person_same_as ON person (same_as) WHERE same_as IS NOT NULL;

-- The kinds of keys: a secret key has a secret that its holder knows. The others have none, records name
-- them, and revoking one ends what it stands for. A provider's key stands for the tokens of the client's
-- provider, a page key for the page sessions of its client, and the key of a sign-in for a person who signs
-- in at the company's provider.
CREATE TABLE api_key (
  id           uuid PRIMARY KEY,
  client_id    uuid NOT NULL REFERENCES client,
  kind         text NOT NULL DEFAULT 'secret' CHECK (kind IN ('secret', 'provider', 'sign_in', 'page')),
  sha256       bytea NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
  hint         text NOT NULL, -- the last four characters, to tell keys apart
  person       text, -- the owner of the key. People cannot approve their own requests
  person_id    uuid REFERENCES person (id), -- the owner of a personal key or sign-in. Null for shared keys
  issuer       text, -- the provider of a sign-in
  subject      text, -- the person's `sub` there
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  -- A personal key that was approved has no secret until its person claims it. Its hash is random until then,
  -- so nothing opens it.
  change_id    uuid, -- the change that issued it, with requester and approver. Null without dual control
  claim_sha256 bytea, -- of the claim code. Null once claimed
  claim_until  timestamptz,
  claimed_at   timestamptz,
  claimed_by   text[] NOT NULL DEFAULT '{}', -- possible holders of the secret: its person, or the holders of the claim code
  CONSTRAINT api_key_sign_in CHECK (
    (kind = 'sign_in') = (issuer IS NOT NULL) AND (kind = 'sign_in') = (subject IS NOT NULL)
    AND (kind <> 'sign_in' OR person IS NOT NULL)),
  CONSTRAINT api_key_claim CHECK ((claim_sha256 IS NULL OR claimed_at IS NULL) AND (claimed_at IS NULL) = (claimed_by = '{}'))
);
CREATE INDEX api_key_client ON api_key (client_id);
-- A client has one key of a provider and one of its pages at a time, and a sign-in leads to one key.
CREATE UNIQUE INDEX api_key_provider ON api_key (client_id) WHERE kind = 'provider' AND revoked_at IS NULL;
CREATE UNIQUE INDEX api_key_page ON api_key (client_id) WHERE kind = 'page' AND revoked_at IS NULL;
CREATE UNIQUE INDEX api_key_subject ON api_key (issuer, subject) WHERE kind = 'sign_in' AND revoked_at IS NULL;
CREATE UNIQUE INDEX api_key_claim_code ON api_key (claim_sha256) WHERE claim_sha256 IS NOT NULL;

-- Any user of a public client can read its code, so a secret key of it would be no secret.
CREATE FUNCTION forbid_public_secret_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM client WHERE id = NEW.client_id AND kind = 'public') THEN
    RAISE EXCEPTION 'a public client has no secret keys' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER public_client_has_no_secret_key BEFORE INSERT OR UPDATE OF client_id, kind ON api_key
FOR EACH ROW WHEN (NEW.kind = 'secret') EXECUTE FUNCTION forbid_public_secret_key();

-- Names by which people are known, in addition to their keys (api_key.person_id).
CREATE TABLE person_identity (
  person_id uuid NOT NULL REFERENCES person (id) ON DELETE CASCADE,
  kind      text NOT NULL CHECK (kind IN ('sign_in', 'token_subject', 'name')),
  is_staff  boolean NOT NULL,
  sha256    bytea NOT NULL, -- see identity_sha256
  PRIMARY KEY (person_id, kind, sha256)
);
CREATE UNIQUE INDEX person_identity_of_staff ON person_identity (sha256) WHERE is_staff;

-- Returns the key for comparing identities. Names have no issuer, and no case.
CREATE FUNCTION identity_sha256(issuer text, value text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sha256(convert_to(coalesce(issuer, '') || E'\n' || CASE WHEN issuer IS NULL THEN lower(value) ELSE value END, 'UTF8'))
$$;

-- Makes two people one human, with all who were merged into the second before. Returns false if they are one
-- already. Lock: LOCKS.people.
CREATE FUNCTION merge_people(kept uuid, merged uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7070033);
  UPDATE person p SET same_as = k.id
  FROM (SELECT coalesce(same_as, id) AS id FROM person WHERE id = kept) AS k,
    (SELECT coalesce(same_as, id) AS id FROM person WHERE id = merged) AS m
  WHERE k.id <> m.id AND coalesce(p.same_as, p.id) = m.id;
  RETURN FOUND;
END
$$;

-- Returns a new UUIDv7 (RFC 9562, section 5.7).
CREATE FUNCTION new_id() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
    substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- Returns the member of staff with a name, or who signs in as a subject, and adds them at first sight. An
-- administrator who lets the same subject in under two names says that both are one human.
CREATE FUNCTION member_of_staff(their_name text, their_issuer text, their_subject text) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  of_name uuid := (SELECT person_id FROM person_identity WHERE is_staff AND sha256 = identity_sha256(NULL, their_name));
  of_subject uuid := (SELECT person_id FROM person_identity WHERE is_staff AND sha256 = identity_sha256(their_issuer, their_subject));
BEGIN
  IF coalesce(of_name, of_subject) IS NULL THEN
    INSERT INTO person (id, sha256) VALUES (new_id(), identity_sha256(NULL, their_name)) ON CONFLICT (sha256) DO NOTHING;
    of_name := (SELECT id FROM person WHERE sha256 = identity_sha256(NULL, their_name));
  END IF;
  INSERT INTO person_identity (person_id, kind, is_staff, sha256)
  SELECT coalesce(of_name, of_subject), 'name', TRUE, identity_sha256(NULL, their_name)
  UNION ALL
  SELECT coalesce(of_subject, of_name), 'sign_in', TRUE, identity_sha256(their_issuer, their_subject) WHERE their_subject IS NOT NULL
  ON CONFLICT DO NOTHING;
  IF of_name <> of_subject THEN
    PERFORM merge_people(of_name, of_subject);
  END IF;
  RETURN coalesce(of_name, of_subject);
END
$$;

-- Identifies the owner of a key. A trigger serves every statement that adds a key.
CREATE FUNCTION identify_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.person_id := member_of_staff(NEW.person, NEW.issuer, NEW.subject);
  RETURN NEW;
END
$$;
CREATE TRIGGER key_has_owner BEFORE INSERT ON api_key
FOR EACH ROW WHEN (NEW.person IS NOT NULL) EXECUTE FUNCTION identify_owner();

-- Adds the identities of a person of a client at first sight, in the statement that adds the person: the
-- name, and for a person whom a provider names, the subject there. A trigger serves every statement that
-- names a person.
CREATE FUNCTION identify_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO person_identity (person_id, kind, is_staff, sha256)
  SELECT NEW.id, 'name', FALSE, identity_sha256(NULL, NEW.name)
  UNION ALL
  SELECT NEW.id, 'token_subject', FALSE, identity_sha256(NEW.issuer, NEW.name) WHERE NEW.issuer IS NOT NULL
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER person_has_identities AFTER INSERT OR UPDATE OF name, issuer ON person
FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION identify_person();

-- Returns the humans who may be the authors of something: one ID for each human. A person of a client counts
-- as the member of staff with the same name or subject, because every caller may claim a name. So do the
-- people of clients who were merged with that person.
--   persons, names, keys   people by their IDs, staff by their names, and keys: their owners, and who claimed them
CREATE FUNCTION humans_behind(persons uuid[], names text[], keys uuid[]) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  WITH given AS MATERIALIZED (
    SELECT unnest(persons) AS id
    UNION
    SELECT person_id FROM api_key WHERE id = ANY (keys)
    UNION
    SELECT person_id FROM person_identity
    WHERE is_staff AND sha256 IN (
      SELECT identity_sha256(NULL, name) FROM unnest(names) AS name
      UNION ALL
      SELECT identity_sha256(NULL, name) FROM api_key k CROSS JOIN unnest(k.claimed_by) AS name WHERE k.id = ANY (keys))
  ), counted AS (
    SELECT id FROM given
    UNION
    SELECT staff.person_id FROM given JOIN person p ON p.id = given.id AND p.client_id IS NOT NULL
    JOIN person alike ON coalesce(p.same_as, p.id) IN (alike.id, alike.same_as)
    JOIN person_identity own ON own.person_id = alike.id AND NOT own.is_staff
    JOIN person_identity staff ON staff.is_staff AND staff.sha256 = own.sha256
  )
  SELECT coalesce(array_agg(DISTINCT coalesce(p.same_as, p.id)), '{}') FROM counted JOIN person p USING (id)
$$;

-- Keys for one person and some minutes, made by the client's server for a phone or a page.
CREATE TABLE ephemeral_key (
  id            uuid PRIMARY KEY, -- UUIDv7
  key_id        uuid NOT NULL REFERENCES api_key (id), -- the parent key. It ends with its parent
  person_id     uuid NOT NULL REFERENCES person (id),
  sha256        bytea NOT NULL UNIQUE,
  hint          text NOT NULL,
  operations    text[] NOT NULL,
  countries     text[] NOT NULL, -- empty allows those of the client
  recipients    bytea[], -- SHA-256 as in beneficiary. Null allows any
  max_item_usd  numeric(20,6) NOT NULL CHECK (max_item_usd > 0),
  max_total_usd numeric(20,6) NOT NULL CHECK (max_total_usd > 0),
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at    timestamptz NOT NULL,
  revoked_at    timestamptz,
  CHECK (expires_at > created_at AND expires_at <= created_at + interval '15 minutes')
);
CREATE INDEX ephemeral_key_person ON ephemeral_key (person_id, id);
CREATE INDEX ephemeral_key_parent ON ephemeral_key (key_id, id);
-- Rows stay, and only those of the last minutes are valid.
CREATE INDEX ephemeral_key_valid ON ephemeral_key (key_id, expires_at) WHERE revoked_at IS NULL;

-- Returns whether a record commits to the name of its person (commitment of
-- src/platform/privacy/commitment.ts). A name that was set after an erasure does not belong to the records
-- from before. Recovered records have no commitment.
CREATE FUNCTION is_committed(salt bytea, name text, committed bytea) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(sha256(salt || convert_to(name, 'UTF8')) = committed, committed IS NULL)
$$;

-- Sessions --------------------------------------------------------------------------------------------------

-- A session of the console, by the SHA-256 of the cookie's secret. If a crash loses the sessions, people sign
-- in again.
CREATE UNLOGGED TABLE console_session (
  sha256       bytea PRIMARY KEY CHECK (length(sha256) = 32),
  key_id       uuid NOT NULL REFERENCES api_key (id),
  created_at   timestamptz NOT NULL DEFAULT now(),
  used_at      timestamptz NOT NULL DEFAULT now(),
  -- The sign-in at the provider. All null for a sign-in with a key.
  signed_in_at timestamptz, -- the time of the last proof at the provider (auth_time), if it states one
  acr          text, -- the strength of the proof, in the provider's words
  sid          text, -- the session at the provider, which may end it
  id_token     bytea -- for signing out there, encrypted with the cookie's secret
);
CREATE INDEX console_session_key ON console_session (key_id);

-- Sessions of people on the pages of clients. The browser holds a cookie, and the proxy everything else.
CREATE TABLE page_session (
  id           uuid PRIMARY KEY, -- UUIDv7; records name it
  key_id       uuid NOT NULL REFERENCES api_key (id), -- the page key, without which it is not valid
  person_id    uuid NOT NULL REFERENCES person (id),
  sha256       bytea NOT NULL UNIQUE, -- of the secret in the cookie
  origin       text NOT NULL, -- of the page of the sign-in. The session ends with its origin
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  used_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  signed_in_at timestamptz, -- the time of the last proof at the provider (auth_time), if it states one
  acr          text, -- the strength of the proof, in the provider's words
  sid          text, -- the session at the provider, which may end it
  id_token     bytea NOT NULL -- for signing out there, encrypted with the cookie's secret
);
CREATE INDEX page_session_key ON page_session (key_id, sid);
CREATE INDEX page_session_person ON page_session (person_id);
CREATE INDEX page_session_used ON page_session (used_at);

-- Tokens that count once and were used, until they are refused for their age: DPoP proofs (RFC 9449) and
-- logout tokens. It is logged, so that a failover does not forget them.
CREATE TABLE used_token (
  sha256       bytea PRIMARY KEY, -- of the ID and the issuer of the token
  counts_until timestamptz NOT NULL
);

-- Pending changes -------------------------------------------------------------------------------------------

-- A change that waits for a second person (src/access/dual-control/dual-control.service.ts). The request, the
-- decision and the change itself are acts, so this is work, not a record.
CREATE TABLE pending_change (
  id                 uuid PRIMARY KEY, -- UUIDv7
  kind               text NOT NULL CHECK (kind IN ('create_client', 'change_client', 'issue_key', 'lift_stop', 'merge_people', 'forget_fees', 'settle_payouts', 'attribute_transaction')),
  client             text, -- the name of the changed client. Null without a client
  expands             text[] NOT NULL, -- reasons for a second person, by the names of the API
  before             text, -- the client's permissions and keys, as JSON. Null for a new client
  change             text NOT NULL, -- as JSON; of a key, its SHA-256 and never the key
  reason             text,
  client_id          uuid NOT NULL, -- the requester
  key_id             uuid NOT NULL,
  person             text NOT NULL,
  requested_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at         timestamptz NOT NULL,
  status             text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'superseded')),
  decided_at         timestamptz,
  decision_reason    text,
  decider_client_id  uuid,
  decider_key_id     uuid,
  decider_person     text,
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK (decider_key_id <> key_id AND lower(decider_person) <> lower(person))
);
CREATE INDEX pending_change_status ON pending_change (status, id);

-- Instances and epochs --------------------------------------------------------------------------------------
-- Evidence of a database, a process or a clock that came back from the past.

-- The processes. A process holds an advisory lock with its number while it lives. An intent without an
-- outcome is in doubt as soon as its process is gone, and nothing of it is in flight any more. Another
-- instance may run with shorter timeouts, and must not settle a call while the process that released it may
-- still send it (src/journal/settlement/settlements.ts).
CREATE TABLE process (
  number       integer PRIMARY KEY, -- intent.process and decision.process
  in_flight_ms integer NOT NULL CHECK (in_flight_ms > 0), -- after this time from its release, no call is in flight
  started_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The instances, each with the number of its durable writes (src/continuity/heartbeat/heartbeat.service.ts).
-- A row is written every second. An instance that finds a smaller number than it has seen knows that commits
-- were lost. This is work, not a record.
CREATE TABLE instance (
  id      uuid PRIMARY KEY, -- random, of one process or of one DATA_DIR
  beat    bigint NOT NULL CHECK (beat > 0),
  beat_at timestamptz NOT NULL, -- by the database's clock
  server  text -- database_server(); null if the instance does not pay
) WITH (fillfactor = 50); -- leaves room for updates within the page

-- Returns the server: its system identifier and its timeline. A dump that is restored elsewhere gets another
-- system identifier. A promotion and a point-in-time recovery begin another timeline. Null on a standby.
CREATE FUNCTION database_server() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN NOT pg_is_in_recovery() THEN (SELECT system_identifier FROM pg_control_system()) || '/'
    || ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END
$$;

-- The epochs of the history of this database. The next one begins when commits were lost and a person has had
-- what is known of them restored (database recover). Instances compare it with the epoch that they have seen
-- (src/continuity/fence/epoch.service.ts).
CREATE TABLE epoch (
  number     integer PRIMARY KEY CHECK (number > 0),
  reason     text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The server on which the history is known to be complete. An instance that has worked with the database
  -- before, and misses nothing, updates it after a move. An instance without evidence does not pay on another
  -- server.
  server     text NOT NULL DEFAULT database_server(),
  -- When the history came to this server, by its clock: at a confirmed move, or when a recovery began the
  -- epoch. Null if it has been there from its beginning. The clock of the server before may have been another
  -- one (src/journal/settlement/settlements.ts)
  moved_at   timestamptz,
  -- The start of the recovery gap, whose payments may be missing. It ends when the epoch begins. Null if
  -- nothing was lost.
  lost_from  timestamptz CHECK (lost_from < started_at),
  run_id     uuid, -- the run that reads that time from the upstream's list
  CHECK ((lost_from IS NULL) = (run_id IS NULL))
);
INSERT INTO epoch (number, reason) VALUES (1, 'The database was created.');

-- Records of calls ------------------------------------------------------------------------------------------

-- A request that is about to be sent. It is committed before the first byte is sent. The column record has
-- the text that the log seals: canonical JSON (RFC 8785) of everything that is known about the request,
-- payouts included (IntentDocument of src/journal/records/documents.ts). The other columns repeat members
-- that statements need, and `audit verify` compares them.
CREATE TABLE intent (
  id          uuid PRIMARY KEY, -- the call's id
  client_id   uuid NOT NULL,
  operation   text NOT NULL, -- the operation's name in the interface: 'POST /payouts/airtime'
  item_count  integer NOT NULL,
  total_usd   numeric, -- null if no item names an amount
  expected_fee_usd numeric, -- fees reserved with total_usd. Null if none are expected
  person_id   uuid, -- the person on whose behalf the client calls
  ephemeral_key_id uuid, -- the ephemeral key that the request came with
  held_for    text, -- the reason for an approval. Null without one
  expires_at  timestamptz(3), -- expiry of a held or queued call. A queued one has it without held_for
  reserved_on date, -- the day (UTC) of its cap. Null for none, or the day of its decision
  process     integer, -- the number of the process that works on the call
  recorded_at timestamptz NOT NULL, -- the database's clock
  record      text NOT NULL,
  tx          xid8 NOT NULL DEFAULT pg_current_xact_id()
) PARTITION BY RANGE (id);
CREATE INDEX intent_tx ON intent (tx, id);
CREATE INDEX intent_held ON intent (client_id, expires_at) WHERE held_for IS NOT NULL; -- few calls are held

-- The outcome of a call. A call without an outcome that is older than the time-out is in doubt. The column
-- record has an OutcomeDocument, with the transactions of the upstream's answer.
CREATE TABLE outcome (
  intent_id       uuid PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('succeeded', 'rejected', 'not_sent', 'unknown')),
  upstream_status smallint,
  upstream_ms     numeric(12,3), -- by a monotonic clock. Null if another call fetched the answer
  sent_at         timestamptz NOT NULL,
  answered_at     timestamptz NOT NULL,
  recorded_at     timestamptz NOT NULL,
  counted_usd     numeric, -- the amount that counts on its caps after this answer. Null for the whole reservation
  record          text NOT NULL,
  tx              xid8 NOT NULL DEFAULT pg_current_xact_id()
) PARTITION BY RANGE (intent_id);
CREATE INDEX outcome_tx ON outcome (tx, intent_id);

-- A rejected request of a known client.
CREATE TABLE refusal (
  id              uuid PRIMARY KEY, -- the call's id
  client_id       uuid NOT NULL,
  key_id          uuid NOT NULL,
  operation       text NOT NULL,
  request_id      text NOT NULL,
  traceparent     text,
  client_address  text NOT NULL,
  idempotency_key_commitment bytea, -- SHA-256(salt || key), see refusal_key. Null without a key
  actor_source    text CHECK (actor_source IN ('token', 'ephemeral', 'session', 'key', 'claimed')), -- the source of the name
  actor_commitment bytea CHECK (octet_length(actor_commitment) = 32), -- SHA-256(salt || name)
  person_id       uuid,
  ephemeral_key_id uuid,
  credential      jsonb, -- the token or session of the request, as in the record of a call. Null for a key
  status          smallint NOT NULL,
  code            text NOT NULL,
  detail          text NOT NULL,
  faults          jsonb NOT NULL, -- the first hundred: [{pointer, detail}]
  fault_count     integer NOT NULL,
  first_call_id   uuid, -- the call that this one repeats
  received_at     timestamptz NOT NULL,
  -- Defaults are set in the order of the columns. The transaction begins before the time of the record, so a
  -- checkpoint that is complete until this time has the record.
  tx              xid8 NOT NULL DEFAULT pg_current_xact_id(),
  recorded_at     timestamptz NOT NULL DEFAULT clock_timestamp()
) PARTITION BY RANGE (id);
CREATE INDEX refusal_tx ON refusal (tx, id);
CREATE INDEX refusal_unavailable ON refusal (tx, id) WHERE code = 'database_unavailable'; -- few, and their calls may have reservations

-- A structure of the upstream's answers, without any value. Each operation has about a hundred, so one table
-- holds all of them, however old they are.
CREATE TABLE answer_shape (
  id            uuid PRIMARY KEY, -- UUIDv7
  operation     text NOT NULL, -- the operation's name in the interface
  http_status   smallint NOT NULL,
  fingerprint   bytea NOT NULL CHECK (octet_length(fingerprint) = 32), -- SHA-256 of the shape's JSON with sorted keys
  shape         jsonb NOT NULL, -- a JSON Schema
  first_call_id uuid NOT NULL,
  tx            xid8 NOT NULL DEFAULT pg_current_xact_id(),
  first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (operation, http_status, fingerprint) -- several instances may see a shape at once, and it is new only once
);
CREATE INDEX answer_shape_tx ON answer_shape (tx, id);

-- What can be erased ----------------------------------------------------------------------------------------

-- The erasable data of a request, outside of its record.
CREATE TABLE intent_body (
  intent_id uuid PRIMARY KEY,
  salt      bytea, -- of the body
  body      bytea, -- the bytes as sent. Null without a body, or after an erasure
  coding    text CHECK (coding = 'br'), -- of body, if it is compressed (src/platform/database/rows/stored-body.ts)
  people    text, -- the recipients, JSON (PersonDocument[] of src/journal/records/recipients.ts)
  people_salt bytea, -- the salts of the recipients follow from it. Null once one of them was erased: each has its own
  -- The key of the request, which may spell a person's number, and the salt of its commitment in the record.
  -- An erased key has no salt, and is its hashed_key(). So is the key of a claim (idempotency_claim) whose
  -- call's key was erased.
  idempotency_key      text,
  idempotency_key_salt bytea,
  CHECK ((salt IS NULL) = (body IS NULL))
) PARTITION BY RANGE (intent_id);

-- The key of a refused request, in the same way. An intent may have the same id, and its own row.
CREATE TABLE refusal_key (
  refusal_id uuid PRIMARY KEY,
  salt       bytea, -- null after an erasure
  key        text NOT NULL
) PARTITION BY RANGE (refusal_id);

CREATE TABLE outcome_body (
  intent_id uuid PRIMARY KEY,
  salt      bytea NOT NULL,
  body      bytea NOT NULL, -- the bytes as received
  coding    text CHECK (coding = 'br') -- of body, if it is compressed
) PARTITION BY RANGE (intent_id);

-- Documents as rows -----------------------------------------------------------------------------------------

-- The payouts of requests.
CREATE VIEW intent_item AS
  SELECT i.id AS intent_id, (n.place - 1)::integer AS position, n.recipient_field,
    coalesce(n.handle_ignored, FALSE) AS handle_ignored, n.amount_usd, n.country, n.network_code, n.reference, n.receiver,
    n.wallet, n.upstream_ref
  FROM intent i CROSS JOIN LATERAL ROWS FROM (json_to_recordset(i.record::json -> 'items') AS (
    recipient_field text, handle_ignored boolean, amount_usd numeric, country text, network_code text, reference text,
    receiver text, wallet text, upstream_ref text
  )) WITH ORDINALITY AS n(recipient_field, handle_ignored, amount_usd, country, network_code, reference, receiver, wallet,
    upstream_ref, place);

-- The people that payouts name, until they are erased.
CREATE VIEW item_recipient AS
  SELECT b.intent_id, n.position, n.email, n.phone, n.handle
  FROM intent_body b CROSS JOIN LATERAL json_to_recordset(b.people::json) AS n(
    position integer, email text, phone text, handle text)
  WHERE coalesce(n.email, n.phone, n.handle) IS NOT NULL;

-- The transactions in the upstream's answers.
CREATE VIEW outcome_item AS
  SELECT o.intent_id, (n.place - 1)::integer AS ordinal, n.position, n.upstream_ref, n.upstream_id, n.batch_ref, n.status,
    n.amount_usd, coalesce(n.differs, '{}') AS differs
  FROM outcome o CROSS JOIN LATERAL ROWS FROM (json_to_recordset(o.record::json -> 'items') AS (
    position integer, upstream_ref text, upstream_id text, batch_ref text, status text, amount_usd numeric, differs text[]
  )) WITH ORDINALITY AS n(position, upstream_ref, upstream_id, batch_ref, status, amount_usd, differs, place);

-- Decisions and settlements ---------------------------------------------------------------------------------

-- Whether a held call may be sent, or that a queued one was released in its turn. Each call has at most one
-- decision, so the first of two approvers or instances wins.
CREATE TABLE decision (
  intent_id       uuid PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('approved', 'rejected', 'released')),
  reason          text NOT NULL,
  body_commitment bytea, -- of the body that the approver saw, checked again before the call is sent
  -- The verdict of the screening service at the approval. Null without a check. Before admission, the request
  -- records it.
  screening       text CHECK (screening IN ('allow', 'review')),
  client_id       uuid NOT NULL, -- the decider. The requester, if no person decided
  key_id          uuid NOT NULL,
  actor           text,
  tx              xid8 NOT NULL DEFAULT pg_current_xact_id(),
  decided_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  reserved_on     date,
  process         integer NOT NULL -- the number of the process that sends the call
);
CREATE INDEX decision_tx ON decision (tx, intent_id);
-- for the number of queued calls whose turn came in the last minute
CREATE INDEX decision_released ON decision (decided_at) WHERE kind = 'released';

-- The state of a call's payouts after its request and its answer: an entry for each payout of the settlement.
-- The request's document is the first entry of each payout (its reservation), and the answer's document has
-- the second. A settlement supersedes the one with the number before it. The column record has a
-- SettlementDocument of src/journal/records/documents.ts.
CREATE TABLE settlement (
  id          uuid PRIMARY KEY, -- UUIDv7
  intent_id   uuid NOT NULL,
  number      integer NOT NULL CHECK (number > 0), -- 1 for the first of the call. Of two writers at once, one wins
  -- The outcome of the call as a whole, if its answer did not show it. Null if the answer stands, or a payout
  -- is in doubt.
  resolution  text CHECK (resolution IN ('confirmed', 'not_executed')),
  counted_usd numeric NOT NULL, -- the amount that counts on its caps from now on
  recorded_at timestamptz NOT NULL,
  record      text NOT NULL,
  tx          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  UNIQUE (intent_id, number)
);
CREATE INDEX settlement_tx ON settlement (tx, id);
CREATE INDEX settlement_tx_intent ON settlement (tx, intent_id); -- for the search index

-- The last settlement of each call that has one.
CREATE VIEW current_settlement AS
  SELECT s.* FROM settlement s
  WHERE NOT EXISTS (SELECT FROM settlement later WHERE later.intent_id = s.intent_id AND later.number > s.number);

-- The account that holds a payout's amount after an entry (ENTRIES of src/operations/lifecycle/entries.ts).
CREATE FUNCTION ledger_account(entry text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN entry IN ('reserved', 'in_doubt') THEN 'reserved' WHEN entry = 'pending' THEN 'in_transit'
    WHEN entry IN ('paid', 'redeemed') THEN 'recipient' WHEN entry = 'fee' THEN 'fees' ELSE 'available' END
$$;

-- The ledger: each entry moves an amount from one account to another. An entry of a payout begins where the
-- one before it ended.
CREATE VIEW ledger_entry AS
  SELECT i.id AS call_id, (n.place - 1)::integer AS position, 0 AS number, 'reserved' AS entry, 'available' AS from_account,
    'reserved' AS to_account, n.amount_usd, 'request' AS source,
    coalesce(CASE WHEN i.held_for IS NOT NULL THEN d.decided_at END, i.recorded_at) AS recorded_at
  FROM intent i LEFT JOIN decision d ON d.intent_id = i.id
  CROSS JOIN LATERAL ROWS FROM (json_to_recordset(i.record::json -> 'items') AS (amount_usd numeric))
    WITH ORDINALITY AS n(amount_usd, place)
  WHERE coalesce(i.reserved_on, d.reserved_on) IS NOT NULL
    OR EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id AND o.record::json -> 'entries' IS NOT NULL)
  UNION ALL
  SELECT o.intent_id, n.position, 0, e.entry, 'reserved', ledger_account(e.entry), n.amount_usd, 'answer', o.recorded_at
  FROM outcome o CROSS JOIN LATERAL (SELECT o.record::json -> 'entries' AS entries) AS told
  JOIN intent_item n ON n.intent_id = o.intent_id
  CROSS JOIN LATERAL (
    SELECT CASE json_typeof(told.entries) WHEN 'string' THEN told.entries #>> '{}' ELSE told.entries ->> n.position END AS entry) AS e
  WHERE told.entries IS NOT NULL
  UNION ALL
  SELECT o.intent_id, n.position, 0, 'fee', 'available', 'fees', n.fee_usd, 'answer', o.recorded_at
  FROM outcome o CROSS JOIN LATERAL json_to_recordset(o.record::json -> 'items') AS n(position integer, fee_usd numeric)
  WHERE n.fee_usd > 0 AND n.position IS NOT NULL
  UNION ALL
  SELECT s.intent_id, e.position, s.number, e.entry, e."from", e."to", e.amount_usd, s.record::json ->> 'source', s.recorded_at
  FROM settlement s CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS e(
    position integer, entry text, "from" text, "to" text, amount_usd numeric);

-- The book --------------------------------------------------------------------------------------------------
-- State, computed from answers, readings and settlements (src/reconciliation/book).

-- Returns the hash of a name of a transaction, of a kind (ref, id or variant). Indexes of names are random. With 16 bytes
-- for each name, they write half as much as with texts.
CREATE FUNCTION name_key(kind text, account text, name text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT encode(substr(sha256(replace(kind || ' ' || account || E'\n' || name, '\', '\\')::bytea), 1, 16), 'hex')::uuid
$$;

-- Returns the ID of a transaction: the hash of its name. A variant is a transaction with the reference of another one.
-- A restore computes IDs without a search path.
CREATE FUNCTION transaction_key(account text, upstream_ref text, upstream_id text, variant integer DEFAULT 0) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN upstream_ref IS NULL THEN public.name_key('id', account, upstream_id) WHEN variant = 0 THEN public.name_key('ref', account, upstream_ref)
    ELSE public.name_key('variant ' || variant::text, account, upstream_ref) END
$$;

-- A transaction of the upstream, with its payout: one row for each transaction that an answer or a reading has
-- shown. A payout has at most one transaction, and a transaction at most one payout. The row names no person:
-- the recipient stands in the reading. The history of a transaction is in the answers and readings with its
-- names, and that of its attribution in the settlements.
CREATE TABLE book_transaction (
  -- Computed, so that a second row with the reference of a transaction is impossible.
  id            uuid PRIMARY KEY GENERATED ALWAYS AS (transaction_key(account, upstream_ref, upstream_id, variant)) STORED,
  account       text NOT NULL,
  upstream_ref  text, -- null if it could be a contact
  upstream_id   text, -- null if it could be a contact, or if it is that of another transaction
  batch_ref     text,
  -- Above 0 for a transaction with the reference of another one: the upstream reused it, or invented a row.
  variant       integer NOT NULL DEFAULT 0,
  issued_at     timestamptz,
  amount_usd    numeric,
  fee_usd       numeric,
  status        text,
  read_id       uuid, -- the last reading with news about it. Null if only an answer has shown it
  ordinal       bigint, -- its position there
  answered_call uuid, -- the call whose answer names it
  call_id       uuid, -- the call of its payout. Null if it has none
  position      integer,
  ground        text CHECK (ground IN ('answer', 'error', 'own_id', 'upstream_ref', 'upstream_id', 'batch_ref', 'reference', 'fingerprint', 'person')),
  shown_at      timestamptz NOT NULL DEFAULT clock_timestamp(), -- when it was first shown
  attributed_at timestamptz,
  CHECK (num_nulls(call_id, position, ground, attributed_at) IN (0, 4)),
  UNIQUE (call_id, position)
) WITH (fillfactor = 45); -- The first sighting of a row and a change of its status fit on its page, and no index changes.
CREATE UNIQUE INDEX book_transaction_upstream_id ON book_transaction (account, name_key('id', account, upstream_id));
CREATE INDEX book_transaction_variant ON book_transaction (account, upstream_ref) WHERE variant > 0;
CREATE INDEX book_transaction_unclaimed ON book_transaction (account, shown_at) WHERE call_id IS NULL;
CREATE INDEX book_transaction_unplaced ON book_transaction (answered_call) WHERE call_id IS NULL;

-- Returns the transactions of an account with this reference or ID.
CREATE FUNCTION transactions_named(of_account text, name text) RETURNS SETOF book_transaction LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT * FROM book_transaction WHERE id = name_key('ref', of_account, name)
  UNION ALL
  SELECT * FROM book_transaction WHERE account = of_account AND upstream_ref = name AND variant > 0
  UNION ALL
  SELECT * FROM book_transaction
  WHERE account = of_account AND name_key('id', account, upstream_id) = name_key('id', of_account, name) AND upstream_ref IS DISTINCT FROM name
$$;

-- A contradiction: a second payout whose records name the transaction, another transaction with its reference or
-- ID, a row with its names and another recipient, type or amount, or an answer that names more transactions than its
-- call has payouts. It changes nothing about the payout of the transaction.
CREATE TABLE book_contradiction (
  id             uuid PRIMARY KEY, -- UUIDv7
  transaction_id uuid NOT NULL,
  kind           text NOT NULL CHECK (kind IN ('owner', 'reference', 'id', 'recipient', 'type', 'amount', 'own_id', 'surplus')),
  call_id        uuid, -- the second payout, the payout that the transaction contradicts, or the call of the answer
  position       integer,
  ground         text, -- of its record: answer, error or person
  variant_id     uuid, -- the row with its name, a transaction of its own
  found_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  handled_at     timestamptz -- when its alarm was raised
);
CREATE UNIQUE INDEX book_contradiction_once ON book_contradiction (
  transaction_id, kind, coalesce(call_id, transaction_id), coalesce(position, -1), coalesce(variant_id, transaction_id));
CREATE INDEX book_contradiction_open ON book_contradiction (id) WHERE handled_at IS NULL;

-- Returns the name of a transaction as records have it. Null for a name that could be a contact, or that is the
-- number of its recipient: records mask these.
CREATE FUNCTION book_name(name text, phone text DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN name = '' OR name LIKE '%@%' OR name LIKE '%•%' OR name LIKE '%+%' AND name ~ '[+][0-9]{7}'
    OR ltrim(name, '0') = translate(phone, '+ -().', '') THEN NULL ELSE name END
$$;

-- Returns a status word. A longer value, or one that is no word, may be a contact and is masked.
CREATE FUNCTION book_status(status text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN status IS NULL OR length(status) <= 60 AND status ~ '^\s*[[:alpha:]][[:alnum:] _-]*$' AND status !~ '[0-9]{7}' THEN status
    ELSE '••••' END
$$;

-- Returns the canonical keys of a recipient's names.
CREATE FUNCTION recipient_keys(email text, phone text, handle text, receiver text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_remove(ARRAY[recipient_key('email', email), recipient_key('phone', phone), recipient_key('handle', handle),
    recipient_key('receiver', receiver)], NULL)
$$;

-- Returns the kind of a canonical key (kindOfKey of src/recipients/recipient.ts).
CREATE FUNCTION name_kind(key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN key ~ '^([+]|tel:)' THEN 'phone' WHEN key LIKE '@%' THEN 'handle' WHEN key LIKE '%@%' THEN 'email' ELSE 'receiver' END
$$;

-- Returns the part of a canonical key that all spellings share: the last digits of a number, or the whole name.
CREATE FUNCTION loose_name(key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN key ~ '^([+]|tel:)?[0-9]{7,}$' THEN right(key, 7) ELSE ltrim(lower(key), '@') END
$$;

-- Returns whether two lists of canonical keys may be of one recipient. Unlike names, such as an email address
-- and a handle, cannot be compared, and one side may omit the country code of a phone number.
CREATE FUNCTION recipients_agree(ours text[], theirs text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF ours = '{}' OR theirs = '{}' OR ours && theirs THEN RETURN TRUE; END IF; -- Nearly all rows end here.
  RETURN NOT EXISTS (
    SELECT FROM unnest(ours) AS a(key) JOIN unnest(theirs) AS b(key) ON name_kind(a.key) = name_kind(b.key)
  ) OR EXISTS (
    SELECT FROM unnest(ours) AS a(key) JOIN unnest(theirs) AS b(key) ON loose_name(a.key) = loose_name(b.key));
END $$;

-- Enters the transactions of new answers, each with its payout. Nearly all answers match all of their transactions to
-- payouts, and nearly all names are new. The unique indexes prove it: if a name is known, nothing is entered.
-- @returns the calls that are left.
CREATE FUNCTION enter_new_calls(call_ids uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  fresh uuid[];
  rest uuid[];
BEGIN
  SELECT array_agg(id) FILTER (WHERE NOT is_known), array_agg(id) FILTER (WHERE is_known) INTO fresh, rest
  FROM (
    SELECT call.id, coalesce(
      (SELECT TRUE FROM book_transaction WHERE call_id = call.id LIMIT 1),
      (SELECT TRUE FROM book_transaction WHERE call_id IS NULL AND answered_call = call.id LIMIT 1),
      (SELECT TRUE FROM settlement WHERE intent_id = call.id LIMIT 1), FALSE) AS is_known
    FROM unnest(call_ids) AS call(id)
    -- OFFSET keeps look-ups: a plan that was made while tables were small would read them whole each time.
    CROSS JOIN LATERAL (SELECT record FROM intent WHERE id = call.id OFFSET 0) AS i
    CROSS JOIN LATERAL (SELECT record FROM outcome WHERE intent_id = call.id OFFSET 0) AS o
    -- Calls that delete or redeem a transaction name one of another call. Quotes within texts are escaped.
    WHERE strpos(o.record, '"entries":') > 0 AND strpos(i.record, '"upstream_ref":') = 0
    OFFSET 0
  ) AS answered;
  WITH named AS MATERIALIZED (
    SELECT i.account, call.id AS call_id, n.position, CASE o.kind WHEN 'succeeded' THEN 'answer' ELSE 'error' END AS ground,
      book_name(n.upstream_ref) AS upstream_ref, book_name(n.upstream_id) AS upstream_id, book_name(n.batch_ref) AS batch_ref,
      n.amount_usd, n.fee_usd, book_status(n.status) AS status
    FROM unnest(fresh) AS call(id)
    CROSS JOIN LATERAL (SELECT coalesce((SELECT account FROM client WHERE client.id = client_id), 'main') AS account FROM intent WHERE id = call.id OFFSET 0) AS i
    CROSS JOIN LATERAL (SELECT kind, record::json -> 'items' AS items FROM outcome WHERE intent_id = call.id OFFSET 0) AS o
    CROSS JOIN LATERAL json_to_recordset(o.items) AS n(
      position integer, upstream_ref text, upstream_id text, batch_ref text, amount_usd numeric, fee_usd numeric, status text)
  ), entered AS (
    INSERT INTO book_transaction (account, upstream_ref, upstream_id, batch_ref, amount_usd, fee_usd, status, answered_call,
      call_id, position, ground, attributed_at)
    SELECT account, upstream_ref, upstream_id, batch_ref, amount_usd, fee_usd, status, call_id, call_id, position, ground, clock_timestamp()
    FROM named WHERE position IS NOT NULL AND coalesce(upstream_ref, upstream_id) IS NOT NULL
  )
  SELECT rest || array_agg(DISTINCT call_id) INTO rest FROM named WHERE position IS NULL;
  RETURN rest;
EXCEPTION WHEN unique_violation THEN
  RETURN fresh || rest;
END
$$;

-- Enters the transactions that the answers and settlements of these calls name. The newest record of a payout
-- counts. A transaction of another payout, or a second one of the same payout, is a contradiction.
CREATE FUNCTION enter_calls(call_ids uuid[]) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  rest uuid[] := enter_new_calls(call_ids);
BEGIN -- The plan is kept for the connection. Planning takes as long as entering a hundred calls.
  IF rest IS NULL THEN RETURN; END IF;
  WITH named AS MATERIALIZED (
    SELECT transaction_key(i.account, n.upstream_ref, n.upstream_id) AS id,
      i.account, i.id AS call_id, n.*, i.item_count,
      -- Not EXISTS, for which the server may read the whole book.
      coalesce((SELECT TRUE FROM book_transaction b WHERE b.call_id = i.id AND b.position = n.pos), FALSE) AS has_one
    FROM unnest(rest) AS call(id)
    CROSS JOIN LATERAL (
      SELECT id, coalesce((SELECT account FROM client WHERE client.id = client_id), 'main') AS account, item_count
      FROM intent WHERE id = call.id OFFSET 0
    ) AS i
    CROSS JOIN LATERAL (SELECT kind, record FROM outcome WHERE intent_id = call.id OFFSET 0) AS o
    CROSS JOIN LATERAL (SELECT o.record::json AS answer) AS parsed
    CROSS JOIN LATERAL (
      SELECT DISTINCT ON (coalesce(t.pos, -t.nth)) t.pos, t.nth, t.upstream_ref, t.upstream_id, t.batch_ref, t.amount_usd, t.fee_usd,
        t.status, CASE WHEN t.source = 'person' THEN 'person' WHEN t.source = 'answer' AND o.kind <> 'succeeded' THEN 'error' ELSE 'answer' END AS ground
      FROM (
        SELECT a.position AS pos, book_name(a.upstream_ref) AS upstream_ref, book_name(a.upstream_id) AS upstream_id,
          book_name(a.batch_ref) AS batch_ref, a.amount_usd, a.fee_usd, book_status(a.status) AS status, 'answer' AS source, 0 AS number, a.nth
        FROM ROWS FROM (json_to_recordset(parsed.answer -> 'items') AS (
          position integer, upstream_ref text, upstream_id text, batch_ref text, amount_usd numeric, fee_usd numeric, status text
        )) WITH ORDINALITY AS a(position, upstream_ref, upstream_id, batch_ref, amount_usd, fee_usd, status, nth)
        UNION ALL
        SELECT e.position, book_name(e.upstream_ref), book_name(e.upstream_id), book_name(e.batch_ref), e.amount_usd, NULL, book_status(e.status),
          s.record::json ->> 'source', s.number, e.position + 1
        FROM settlement s CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS e(
          position integer, entry text, upstream_ref text, upstream_id text, batch_ref text, amount_usd numeric, status text)
        WHERE s.intent_id = i.id AND e.entry <> 'fee' AND s.record::json ->> 'source' IN ('answer', 'person')
      ) AS t
      WHERE coalesce(t.upstream_ref, t.upstream_id) IS NOT NULL
      ORDER BY coalesce(t.pos, -t.nth), t.number DESC
    ) AS n
  ), known AS MATERIALIZED (
    SELECT n.*, b.id AS book_id, b.read_id AS book_read_id, b.call_id AS owner, b.position AS owner_position,
      -- A success outweighs an error that names the transaction.
      row_number() OVER alike = 1 AND coalesce(
        b.ground = 'error' AND n.ground <> 'error' AND (b.call_id, b.position) <> (n.call_id, n.pos) AND NOT n.has_one, FALSE) AS is_moved,
      first_value(n.id) OVER alike AS first_id, row_number() OVER alike = 1 AS is_first,
      -- An ID belongs to one transaction.
      f.id IS NULL AND row_number() OVER (PARTITION BY n.account, n.upstream_id ORDER BY n.rank) = 1 AS has_id,
      -- Each transaction of a call counts once, and those with a payout first.
      n.item_count < dense_rank() OVER (PARTITION BY n.call_id ORDER BY n.first_pos, n.first_nth) AS is_surplus
    FROM (
      SELECT *, min(pos) OVER same AS first_pos, min(nth) OVER same AS first_nth
      FROM (
        SELECT *, coalesce(upstream_ref, first_value(upstream_ref) OVER (PARTITION BY account, upstream_id
          ORDER BY upstream_ref IS NULL, rank), upstream_id) AS name
        FROM (
          -- Several of these calls can name one transaction. It belongs to the first that can have it.
          SELECT *, row_number() OVER (ORDER BY pos IS NULL, has_one, ground = 'error', call_id, pos, nth) AS rank FROM named
        ) AS ranked
      ) AS item
      WINDOW same AS (PARTITION BY call_id, name)
    ) AS n LEFT JOIN LATERAL (
      SELECT * FROM (
        SELECT b.* FROM book_transaction b WHERE b.id = name_key('ref', n.account, n.upstream_ref)
        UNION ALL
        SELECT b.* FROM book_transaction b WHERE b.account = n.account AND name_key('id', b.account, b.upstream_id) = name_key('id', n.account, n.upstream_id)
      ) AS found LIMIT 1
    ) AS f ON TRUE LEFT JOIN LATERAL (
      -- One with another reference is another transaction. Without one, its ID stands for it.
      SELECT f.* WHERE f.upstream_ref = f.upstream_id OR coalesce(n.upstream_ref = f.upstream_ref, TRUE)
    ) AS b ON TRUE
    WINDOW alike AS (PARTITION BY n.account, n.name ORDER BY n.rank)
  ), entered AS (
    INSERT INTO book_transaction (account, upstream_ref, upstream_id, batch_ref, amount_usd, fee_usd, status, answered_call,
      call_id, position, ground, attributed_at)
    SELECT account, upstream_ref, CASE WHEN has_id THEN upstream_id END, batch_ref, amount_usd, fee_usd, status, call_id,
      CASE WHEN is_free THEN call_id END, CASE WHEN is_free THEN pos END, CASE WHEN is_free THEN ground END,
      CASE WHEN is_free THEN clock_timestamp() END
    FROM (SELECT *, pos IS NOT NULL AND NOT has_one AS is_free FROM known WHERE book_id IS NULL AND is_first) AS new
    ON CONFLICT DO NOTHING
  ), claiming AS MATERIALIZED (
    SELECT * FROM known WHERE (owner IS NULL AND is_first OR is_moved) AND pos IS NOT NULL AND NOT has_one
  ), attributed AS (
    -- The first sighting is compared with the payout. One that a reading has shown has none, until the rules compare it.
    UPDATE book_transaction b SET answered_call = coalesce(b.answered_call, k.call_id), (call_id, position, ground, attributed_at) = (
      SELECT k.call_id, k.pos, k.ground, clock_timestamp() WHERE b.read_id IS NULL)
    FROM claiming k WHERE b.id = k.book_id
      -- A plan that was made while the book was empty would read the whole book each time.
      AND b.id = ANY (ARRAY(SELECT book_id FROM claiming))
      AND b.call_id IS NOT DISTINCT FROM k.owner -- Another process may have attributed it since it was read.
  )
  INSERT INTO book_contradiction (id, transaction_id, kind, call_id, position, ground)
  SELECT new_id(), coalesce(k.book_id, k.first_id), 'owner', CASE WHEN k.is_moved THEN k.owner ELSE k.call_id END,
    CASE WHEN k.is_moved THEN k.owner_position ELSE k.pos END, CASE WHEN k.is_moved THEN 'error' ELSE k.ground END
  FROM known k
  WHERE k.pos IS NOT NULL AND (k.owner, k.owner_position) IS DISTINCT FROM (k.call_id, k.pos)
    AND (k.owner IS NOT NULL OR k.has_one OR k.book_read_id IS NULL AND NOT k.is_first)
    -- A transaction that contradicts the payout was taken from it.
    AND NOT EXISTS (SELECT FROM book_contradiction c WHERE c.transaction_id = k.book_id AND (c.call_id, c.position) = (k.call_id, k.pos))
  UNION ALL
  SELECT new_id(), coalesce(k.book_id, k.first_id), 'surplus', k.call_id, NULL, NULL
  FROM known k WHERE k.pos IS NULL AND k.is_surplus
  ON CONFLICT DO NOTHING;
END
$$;

-- Stops and acts --------------------------------------------------------------------------------------------

-- A stop of everything (both null), of one client, or of one operation. A stop is active until it is lifted.
-- A stop that the proxy sets by itself has a cause. One with the cause database_behind is lifted by a person
-- like any other, but only once the epoch in which it was set is over.
CREATE TABLE stop (
  id              uuid PRIMARY KEY, -- UUIDv7
  stops_client_id uuid,
  stops_operation text,
  reason          text NOT NULL,
  cause           text CHECK (cause = 'database_behind'), -- null if a person set it
  epoch           integer, -- in which it was set; null without a cause
  via             text CHECK (via IN ('api', 'console')), -- null for a command, or the proxy itself
  client_id       uuid, -- the author. Null for the command line
  key_id          uuid,
  actor           text,
  tx              xid8 NOT NULL DEFAULT pg_current_xact_id(),
  stopped_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (stops_client_id IS NULL OR stops_operation IS NULL)
);
CREATE INDEX stop_tx ON stop (tx, id);

CREATE TABLE stop_lift (
  stop_id   uuid PRIMARY KEY,
  unreconciled boolean, -- lifted without a reading of the recovery gap. Null means no
  via       text CHECK (via IN ('api', 'console')), -- null for a command
  client_id uuid, -- the author of the lift. Null for the command line
  key_id    uuid,
  actor     text,
  tx        xid8 NOT NULL DEFAULT pg_current_xact_id(),
  lifted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX stop_lift_tx ON stop_lift (tx, stop_id);

-- An act: a change of a client, its limits, its scopes or its keys, or another act of an operator or the
-- proxy. Examples:
--   key_paid_twice        two calls with the same idempotency key, both of which may have been paid
--   false_rejection       the upstream carried out a call that it had rejected
--   transaction_contradicted
--                         a second payout, or another recipient, type or amount, for a transaction of the book
--   database_recovered    an epoch of the database has begun
--   change_requested, change_approved, change_rejected
--                         a change waits for a second person, who decides
--   emergency_change      one person has made a change that needs two
--   dual_control_changed  by a start
--   provider_changed      the provider whose access tokens a client takes
--   person_added, person_limits_changed
--                         an exception for a person, named by ID
--   key_claimed           a person, or the holder of its claim code, has got the secret of a key
--   people_merged         two people are one human from then on
--   transaction_attributed
--                         a person has attributed a transaction of the book to a payout
--   fees_forgotten        the learned fees of an operation of an account are not expected any more
CREATE TABLE activity (
  id               uuid PRIMARY KEY, -- UUIDv7
  action           text NOT NULL CHECK (action IN (
    'client_created', 'limits_changed', 'scopes_changed', 'operations_changed', 'key_issued', 'key_revoked', 'wallet_low',
    'wallet_recovered', 'key_paid_twice', 'false_rejection', 'transaction_contradicted', 'database_recovered', 'change_requested', 'change_approved', 'change_rejected',
    'emergency_change', 'dual_control_changed', 'beneficiary_added', 'beneficiary_removed', 'configuration_changed',
    'provider_changed', 'person_added', 'person_limits_changed', 'person_revoked', 'ephemeral_key_issued',
    'ephemeral_key_revoked', 'key_claimed', 'people_merged', 'fees_forgotten',
    'transaction_attributed')),
  target_client_id uuid, -- the client whose limits, scopes or key changed. Null for a wallet, which before and after name
  target_client    text, -- its name, which never changes
  target_key_id    uuid, -- the key that was issued or revoked
  before           text, -- the changed fields as they were, canonical JSON (RFC 8785). Null for a new target
  after            text NOT NULL, -- the same fields as they are now
  via              text NOT NULL CHECK (via IN ('api', 'console', 'cli', 'start', 'worker', 'proxy')),
  client_id        uuid, -- the author. Null for the command line, or the proxy itself
  key_id           uuid,
  actor            text, -- the person; for the command line, the user of the operating system
  client_address   text,
  request_id       text,
  call_id          uuid, -- X-Call-Id of the request
  reason           text,
  tx               xid8 NOT NULL DEFAULT pg_current_xact_id(),
  acted_at         timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX activity_tx ON activity (tx, id);
CREATE INDEX activity_acted ON activity (acted_at, id);
CREATE INDEX activity_target ON activity (target_client_id, acted_at);
CREATE INDEX activity_false_rejection ON activity (acted_at) WHERE action = 'false_rejection';
-- Apps make ephemeral keys all day, and lists of administrative acts leave them out.
CREATE INDEX activity_administrative ON activity (acted_at, id)
  WHERE NOT action IN ('ephemeral_key_issued', 'ephemeral_key_revoked');

-- Admission -------------------------------------------------------------------------------------------------
-- State for decisions about calls. It is computed from the records.

-- The call that owns an idempotency key. Another call takes the key over only if the owner provably was not
-- carried out. The salt and the hash are erased with the body that they belong to: the key is still taken,
-- but for an unknown content.
CREATE TABLE idempotency_claim (
  client_id    uuid NOT NULL,
  operation    text NOT NULL,
  key          text NOT NULL,
  intent_id    uuid NOT NULL,
  salt         bytea,
  content_hash bytea, -- SHA-256(salt || content), because a body names people, and hashes of phone numbers can be guessed
  PRIMARY KEY (client_id, operation, key)
);

-- Returns the form that takes the place of an erased key (hashedKey of src/journal/lookups/search-terms.ts):
-- `sha256 …`, and `<person> sha256 …` in the claim of an end user. A request with the key still finds it, so
-- nothing is paid twice. No key has a space. The function is STABLE, so that Postgres inlines it.
CREATE FUNCTION hashed_key(key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(key, 'sha256 ') > 0 THEN key
    ELSE left(key, strpos(key, ' ')) || 'sha256 ' || encode(sha256(convert_to(substr(key, strpos(key, ' ') + 1), 'UTF8')), 'hex') END
$$;

-- Returns the key of a call as its claim has it (claimKey of src/journal/records/records.ts). The idempotency
-- keys of end users are their own, so a claim of theirs is the ID of the person, a space, and the key.
CREATE FUNCTION scoped_key(person_id uuid, record text, key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(record, '"actor_source":"token"') > 0 OR strpos(record, '"actor_source":"ephemeral"') > 0
    OR strpos(record, '"actor_source":"session"') > 0 THEN person_id::text || ' ' || key ELSE key END
$$;

-- Contents that need consent to be sent again. The proxy does not send the same content while a call with it
-- is open. It does not send a list again within a day, even with another key.
CREATE TABLE recent_content (
  content   bytea NOT NULL, -- SHA-256, see src/journal/admission/content-keys.ts
  intent_id uuid NOT NULL,
  -- The order in which the calls of a client were admitted. Ids do not show it, because each instance has its
  -- own clock.
  number    bigint GENERATED ALWAYS AS IDENTITY,
  -- Whether the row is kept for a day after the answer, because the call has two items or more or repeats
  -- another call on purpose. Every row is kept while its call is open.
  lasting   boolean NOT NULL,
  PRIMARY KEY (content, intent_id)
);
CREATE INDEX recent_content_intent ON recent_content (lasting, intent_id);

-- Payments to recipients by clients with limits that depend on earlier payments. A row only finds a payment.
-- Whether it counts, and on which day, follows from the records of its call.
CREATE TABLE recipient_payment (
  recipient  bytea NOT NULL, -- SHA-256 of the client and the recipient, see src/journal/admission/content-keys.ts
  intent_id  uuid NOT NULL,
  position   integer NOT NULL,
  usd        numeric(20,6) NOT NULL,
  kept_until date NOT NULL, -- the last day (UTC) on which a limit may need the row. It stays longer while its call is open
  PRIMARY KEY (recipient, intent_id, position)
);
CREATE INDEX recipient_payment_kept ON recipient_payment (kept_until, intent_id);
CREATE INDEX recipient_payment_intent ON recipient_payment (intent_id);

-- The calls that wait for their turn to be sent (Prefer: respond-async), in the order of their IDs. The
-- transaction that releases or ends a call removes its row. This is work, not a record. While process is set,
-- the process that admits the call does not know yet that it did, and may still tell its app that it did not.
CREATE TABLE queued_call (
  account    text NOT NULL, -- at the upstream
  client_id  uuid NOT NULL,
  intent_id  uuid NOT NULL UNIQUE,
  operation  text NOT NULL,
  process    integer, -- null once the admission is known
  ends_at    timestamptz(3) NOT NULL, -- intent.expires_at
  PRIMARY KEY (account, client_id, intent_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX queued_call_ends_at ON queued_call (ends_at);

-- The spending and reservations of a client on a day (UTC). They never exceed a cap that applied at the time.
CREATE TABLE spending (
  client_id uuid NOT NULL,
  day       date NOT NULL,
  usd       numeric(20,6) NOT NULL CHECK (usd >= 0),
  PRIMARY KEY (client_id, day)
);

-- The largest fee that a call was charged for a payout of a size, which is the smallest amount of a range in
-- steps of 1, 2 and 5. A fee that three calls were charged is reserved with payouts, see
-- src/journal/admission/expected-fees.ts. The numbers follow the order of the commits.
CREATE TABLE call_fee (
  account   text NOT NULL,
  operation text NOT NULL,
  size_usd  numeric(20,6) NOT NULL,
  call_id   uuid NOT NULL,
  day       date NOT NULL, -- in UTC
  usd       numeric(20,6) NOT NULL,
  forgotten boolean NOT NULL DEFAULT FALSE, -- not expected any more
  number    bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  PRIMARY KEY (account, operation, size_usd, call_id)
);

-- Payments of a recovery gap that the upstream lists and no call explains, one row for each name of the
-- recipient. A request for the same recipient and amount may be the retry of a payment whose record is lost,
-- so it is held for an approval. The rows of a finding are removed once it is decided. This is work, not a
-- record.
CREATE TABLE unexplained_payment (
  recipient     bytea NOT NULL, -- SHA-256 of the name
  finding_id    uuid NOT NULL,
  usd           numeric, -- null if unreadable
  tolerance_usd numeric NOT NULL, -- of the run that saw it
  PRIMARY KEY (recipient, finding_id)
);
CREATE INDEX unexplained_payment_finding ON unexplained_payment (finding_id);

-- The requests of a client in its current minute. If a crash loses them, a minute begins again.
CREATE UNLOGGED TABLE request_window (
  client_id  uuid PRIMARY KEY,
  started_at timestamptz NOT NULL,
  requests   integer NOT NULL
);

-- The keys that are no longer valid, or whose client has changed since it was looked up. rights is the
-- version of the client's row then (xmin), which every change of its limits, scopes and operations replaces.
CREATE FUNCTION changed_keys(key_ids uuid[], rights text[]) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT a.key_id FROM unnest(key_ids, rights) AS a(key_id, rights)
  WHERE NOT EXISTS (
    SELECT FROM api_key k JOIN client c ON c.id = k.client_id
    WHERE k.id = a.key_id AND c.xmin::text = a.rights AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()) OFFSET 0)
$$;

-- Locks the clients until the commit, and returns whether nothing conflicts with any of these calls: no
-- revoked key and no changed client, no call with the same idempotency key (also if it was erased), none with
-- the same content, no stop, no unexplained payment, no cap, and no fee that the caller does not know. That
-- is true of almost every call, and one statement that begins with this function then admits it. If there may
-- be a conflict, the function returns false and decides nothing: src/policy decides, on the state that
-- src/journal/admission/state.ts reads.
--
-- The function is VOLATILE and reads in a second statement, so that under READ COMMITTED it sees everything
-- that was committed before it had the lock. Under any other isolation level it returns false. Sequential
-- scans are off, because a plan may be older than the contents of the tables. Each statement is planned once:
-- Postgres prefers a plan for the actual clients, and planning takes four times as long as locking.
--   clients, usd        each client once, and the most that its calls add to its caps. Null adds nothing
--   key_ids, rights     see changed_keys
--   on_day              the day (UTC) on whose cap the calls would count
--   known_fees          the number of the newest fee that the caller knows, see call_fee
--   client_of, operations, keys
--                       of each call
--   contents            of each call, SHA-256. Null lets the same content be sent again
CREATE FUNCTION no_conflict(clients uuid[], usd numeric[], key_ids uuid[], rights text[], on_day date, known_fees bigint, client_of uuid[], operations text[], keys text[],
  contents bytea[]) RETURNS boolean LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  clear boolean;
BEGIN
  PERFORM FROM client WHERE id = ANY (clients) ORDER BY id FOR NO KEY UPDATE;
  SELECT current_setting('transaction_isolation') = 'read committed'
    AND on_day = (clock_timestamp() AT TIME ZONE 'UTC')::date
    AND NOT EXISTS (SELECT changed_keys(key_ids, rights))
    AND NOT EXISTS (SELECT FROM call_fee WHERE number > known_fees)
    AND NOT EXISTS (SELECT FROM stop WHERE NOT EXISTS (SELECT FROM stop_lift l WHERE l.stop_id = stop.id))
    AND NOT EXISTS (SELECT FROM unexplained_payment)
    AND NOT EXISTS (
      SELECT FROM unnest(client_of, operations, keys, contents) AS a(client_id, operation, key, content)
      WHERE EXISTS (SELECT FROM idempotency_claim c
          WHERE c.client_id = a.client_id AND c.operation = a.operation AND c.key IN (a.key, hashed_key(a.key)) OFFSET 0)
        OR EXISTS (SELECT FROM recent_content r
          WHERE r.content = a.content OFFSET 0))
    AND NOT EXISTS (
      SELECT FROM unnest(clients, usd) AS a(client_id, usd) JOIN client c ON c.id = a.client_id
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(s.usd) FILTER (WHERE s.day = on_day), 0) AS today, coalesce(sum(s.usd), 0) AS month
        FROM spending s WHERE s.client_id = a.client_id AND s.day >= date_trunc('month', on_day::timestamp)::date) AS spent
      WHERE spent.today + a.usd > c.daily_cap_usd OR spent.month + a.usd > c.monthly_cap_usd)
  INTO clear;
  RETURN clear;
END
$$;

-- Returns whether none of these calls is refused on record. A statement can outlive the request that sent it:
-- a frozen server carries it out when it wakes up. By then, the call may have been answered with 503 and
-- refused on record, and must not be admitted any more. Call the function after the clients are locked. It is
-- VOLATILE, so that it sees everything that was committed until then.
CREATE FUNCTION none_refused(ids uuid[]) RETURNS boolean LANGUAGE plpgsql VOLATILE SET enable_seqscan = off
  SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM refusal WHERE id = ANY (ids));
END
$$;

-- Caps of persons and ephemeral keys ------------------------------------------------------------------------

-- The spending and reservations of a person on a day (UTC), or with an ephemeral key. As in spending, they
-- never exceed a cap that applied at the time. A new day or month has no rows, so no job resets anything.
CREATE TABLE payer_spending (
  payer_id uuid NOT NULL,
  day      date NOT NULL,
  usd      numeric(20,6) NOT NULL CHECK (usd >= 0),
  PRIMARY KEY (payer_id, day)
);

-- The caps of persons and of ephemeral keys, and what counts together: the people of one client who are one
-- human.
CREATE VIEW payer_cap AS
  SELECT p.id AS payer_id, 'person' AS kind, coalesce(p.daily_cap_usd, c.person_daily_cap_usd) AS daily_cap_usd,
    coalesce(p.monthly_cap_usd, c.person_monthly_cap_usd) AS monthly_cap_usd, NULL::numeric AS total_cap_usd,
    p.client_id::text || ' ' || coalesce(p.same_as, p.id) AS counts_as
  FROM person p JOIN client c ON c.id = p.client_id
  UNION ALL
  SELECT id, 'ephemeral_key', NULL, NULL, max_total_usd, id::text FROM ephemeral_key;

-- Returns the payers whose spending counts together with that of one: the payer, and the people of the same
-- client who are the same human. IS NOT DISTINCT FROM keeps the planner from reading all people of the
-- client.
CREATE FUNCTION payers_like(payer uuid) RETURNS TABLE (payer_id uuid) LANGUAGE sql STABLE AS $$
  SELECT payer
  UNION ALL
  SELECT other.id FROM person p
  JOIN person other ON other.id <> p.id AND (other.same_as = coalesce(p.same_as, p.id) OR other.id = p.same_as)
    AND other.client_id IS NOT DISTINCT FROM p.client_id
  WHERE p.id = payer
$$;

-- Returns what a payer, and those who are the same human, have spent on a day, in its month and, if in_all,
-- altogether. An ephemeral key lives for minutes, but what it has requested may be approved months later. It
-- returns one row, as a table, so that the planner inlines it.
CREATE FUNCTION payer_spent(payer uuid, on_day date, in_all boolean)
  RETURNS TABLE (today_usd numeric, month_usd numeric, total_usd numeric) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(s.usd) FILTER (WHERE s.day = on_day), 0),
    coalesce(sum(s.usd) FILTER (WHERE s.day >= date_trunc('month', on_day::timestamp)::date), 0), coalesce(sum(s.usd), 0)
  FROM payers_like(payer) AS alike JOIN payer_spending s ON s.payer_id = alike.payer_id
  WHERE s.day >= CASE WHEN in_all THEN '-infinity' ELSE date_trunc('month', on_day::timestamp)::date END
$$;

-- Returns whether payers stay within their caps (overPayerCap of src/policy/limits/caps.ts). A missing one
-- does not. What one adds counts on the caps of all who are the same human. Call it after no_conflict has
-- locked their clients. Like that function, it is VOLATILE, so that it sees everything that was committed
-- until then. OFFSET 0 keeps the planner from reading every person to join the view. The spending of payers
-- without caps is not read.
--   payers, usd   each payer once, and the sum of its calls
CREATE FUNCTION payers_within_caps(payers uuid[], usd numeric[], on_day date) RETURNS boolean LANGUAGE plpgsql VOLATILE
  SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM (
      SELECT c.*, sum(a.usd) OVER (PARTITION BY c.counts_as) AS adds
      FROM unnest(payers, usd) AS a(payer_id, usd)
      LEFT JOIN LATERAL (SELECT * FROM payer_cap WHERE payer_id = a.payer_id OFFSET 0) AS c ON TRUE
    ) AS c
    WHERE c.payer_id IS NULL OR coalesce(c.daily_cap_usd, c.monthly_cap_usd, c.total_cap_usd) IS NOT NULL AND EXISTS (
      SELECT FROM payer_spent(c.payer_id, on_day, c.total_cap_usd IS NOT NULL) AS spent
      WHERE spent.today_usd + c.adds > c.daily_cap_usd OR spent.month_usd + c.adds > c.monthly_cap_usd
        OR spent.total_usd + c.adds > c.total_cap_usd));
END
$$;

-- Changes what calls count on the caps of their clients and payers, each on the day of its reservation. A
-- call that reserved nothing changes nothing. counted_before is the amount counted until now, or null for the
-- whole reservation. Rows are locked in the order of admission, those of clients first, so that the two
-- cannot deadlock.
CREATE FUNCTION adjust_spending(calls uuid[], counted_before numeric[], counted_after numeric[]) RETURNS void LANGUAGE sql AS $$
  WITH changed AS MATERIALIZED (
    SELECT i.client_id, i.person_id, i.ephemeral_key_id, coalesce(i.reserved_on, d.reserved_on) AS day,
      c.counted_after - coalesce(c.counted_before, i.total_usd + coalesce(i.expected_fee_usd, 0)) AS usd
    FROM unnest(calls, counted_before, counted_after) AS c(id, counted_before, counted_after)
    JOIN intent i ON i.id = c.id LEFT JOIN decision d ON d.intent_id = i.id
    WHERE coalesce(i.reserved_on, d.reserved_on) IS NOT NULL
  ), locked AS MATERIALIZED (
    SELECT s.client_id, s.day, c.usd FROM spending s JOIN (
      SELECT client_id, day, sum(usd) AS usd FROM changed GROUP BY 1, 2) AS c USING (client_id, day)
    WHERE c.usd <> 0 ORDER BY s.client_id, s.day FOR UPDATE OF s
  ), adjusted AS (
    UPDATE spending s SET usd = s.usd + l.usd FROM locked l WHERE s.client_id = l.client_id AND s.day = l.day
  ), locked_payers AS (
    SELECT s.payer_id, s.day, c.usd FROM payer_spending s JOIN (
      SELECT payer_id, day, sum(usd) AS usd FROM changed, unnest(ARRAY[person_id, ephemeral_key_id]) AS payer_id
      WHERE payer_id IS NOT NULL GROUP BY 1, 2) AS c USING (payer_id, day)
    WHERE c.usd <> 0 AND (SELECT count(*) FROM locked) >= 0 ORDER BY s.payer_id, s.day FOR UPDATE OF s
  )
  UPDATE payer_spending s SET usd = s.usd + l.usd FROM locked_payers l WHERE s.payer_id = l.payer_id AND s.day = l.day
$$;

-- Returns the numbers of the live processes.
CREATE FUNCTION live_processes() RETURNS SETOF integer LANGUAGE sql STABLE AS $$
  SELECT objid::bigint::integer FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 7070003 AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;

-- The state of a call ---------------------------------------------------------------------------------------
-- The lifecycle of a call (src/operations/lifecycle/lifecycle.ts) in SQL. A test compares the two.

-- Returns the state that is on record. It follows from the kind of the outcome, whether the call was refused,
-- its last settlement, whether the call waited for an approval or for its turn, and the decision. If the commit
-- of an intent was falsely reported as failed, the call was refused and never sent, unless it was queued and
-- released by another process.
CREATE FUNCTION recorded_state(outcome text, refused boolean, resolution text, held boolean, queued boolean,
  decision text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN outcome IS NULL AND refused AND (NOT queued OR decision IS DISTINCT FROM 'released') THEN 'refused'
    WHEN resolution IS NOT NULL THEN resolution
    WHEN outcome IS NOT NULL THEN outcome
    WHEN held AND decision IS NULL THEN 'pending_approval'
    WHEN held AND decision = 'rejected' THEN 'declined'
    WHEN queued AND decision IS NULL THEN 'queued'
    ELSE 'in_progress'
  END
$$;

-- Returns the state of a call at an instant. A held call is expired from expires_at on. A call in progress is
-- in doubt once its process is gone (live: the live processes) or it was released too long ago.
CREATE FUNCTION state_at(state text, expires_at timestamptz, process integer, released_at timestamptz, instant timestamptz,
  live integer[], given_up_before timestamptz) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN state = 'pending_approval' AND expires_at <= instant THEN 'expired'
    WHEN state = 'in_progress' AND (process <> ALL (live) OR released_at < given_up_before) THEN 'unknown'
    ELSE state
  END
$$;

-- `request` and `answer` are the documents. A refusal has no document, but the same members.
CREATE VIEW call_state AS
  SELECT i.id AS call_id, i.client_id, i.operation, i.total_usd, i.expires_at, coalesce(d.process, i.process) AS process,
    coalesce(d.decided_at, i.recorded_at) AS released_at, o.upstream_ms, coalesce(s.counted_usd, o.counted_usd) AS counted_usd,
    r.first_call_id IS NOT NULL AS repeats,
    recorded_state(o.kind, r.id IS NOT NULL, s.resolution, i.held_for IS NOT NULL,
      i.held_for IS NULL AND i.expires_at IS NOT NULL, d.kind) AS state,
    CASE WHEN i.held_for IS NOT NULL AND r.id IS NULL THEN coalesce(d.kind, 'pending') END AS approval,
    i.record::json AS request, o.record::json AS answer
  FROM intent i
  LEFT JOIN outcome o ON o.intent_id = i.id
  LEFT JOIN decision d ON d.intent_id = i.id
  LEFT JOIN current_settlement s ON s.intent_id = i.id
  LEFT JOIN refusal r ON r.id = CASE WHEN o.kind IS NULL OR i.held_for IS NOT NULL THEN i.id END
  UNION ALL
  SELECT id, client_id, operation, NULL, NULL, NULL, NULL, NULL, NULL, first_call_id IS NOT NULL, 'refused', NULL,
    json_build_object('key_id', key_id, 'actor_source', actor_source, 'actor_commitment', encode(actor_commitment, 'hex'), 'person_id', person_id, 'request_id', request_id, 'client_address', client_address,
      'idempotency_key', key), NULL
  FROM refusal LEFT JOIN refusal_key ON refusal_id = id WHERE NOT EXISTS (SELECT FROM intent WHERE intent.id = refusal.id);

-- Access, erasure, retention --------------------------------------------------------------------------------

-- A reading of the history. It is written before the response leaves.
CREATE TABLE access (
  id                 uuid PRIMARY KEY, -- the request that read; for the command line, a UUIDv7 of its own
  client_id          uuid, -- null for the command line
  key_id             uuid,
  actor              text,
  route              text NOT NULL, -- 'GET /v1/audit/calls', or the command: 'audit erase'
  call_id            uuid, -- the one call that was requested
  call_ids           uuid[] NOT NULL DEFAULT '{}', -- the calls on a page
  filters            jsonb NOT NULL, -- as requested; contacts are masked
  filters_commitment bytea, -- SHA-256(salt || filters as requested, canonical JSON). Null if nothing is masked
  revealed           boolean NOT NULL, -- whether people were unmasked
  rows               integer, -- null if unknown at the beginning, see access_end
  request_id         text,
  client_address     text,
  tx                 xid8 NOT NULL DEFAULT pg_current_xact_id(),
  read_at            timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX access_tx ON access (tx, id);
CREATE INDEX access_client ON access (client_id, id);
CREATE INDEX access_key ON access (key_id, id);
CREATE INDEX access_actor ON access (actor, id) WHERE actor IS NOT NULL;
CREATE INDEX access_call ON access (call_id, id) WHERE call_id IS NOT NULL;
CREATE INDEX access_calls ON access USING gin (call_ids);

-- The end of a reading of unknown length. A reading without an end was interrupted.
CREATE TABLE access_end (
  access_id       uuid PRIMARY KEY,
  complete        boolean NOT NULL,
  rows            bigint NOT NULL,
  sha256          bytea, -- of the bytes that were sent, up to their manifest
  checkpoint_size bigint, -- the checkpoint that the manifest names
  tx              xid8 NOT NULL DEFAULT pg_current_xact_id(),
  ended_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX access_end_tx ON access_end (tx, access_id);

-- The person that a reader searched for. It names people and can be erased.
CREATE TABLE access_filters (
  access_id uuid PRIMARY KEY,
  salt      bytea NOT NULL,
  filters   bytea NOT NULL -- canonical JSON (RFC 8785)
);

-- Rows that were removed from the tables of people, for one person. The record is signed, so that an intruder
-- with only the database cannot excuse a removal with it.
CREATE TABLE erasure (
  id        uuid PRIMARY KEY, -- UUIDv7
  kind      text NOT NULL CHECK (kind IN ('email', 'phone', 'handle', 'person')), -- the form of the contact, which is not stored, or the name of a person
  reason    text NOT NULL,
  actor     text, -- the stated user of the command
  places    text[] NOT NULL, -- 'item_recipient/<call id>/<position>', 'intent_body/<call id>', 'outcome_body/<call id>', 'access_filters/<access id>', 'person/<id>'
  erased_at timestamptz NOT NULL,
  signature bytea NOT NULL, -- Ed25519, by the log's key, of the row as canonical JSON without tx and signature
  tx        xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX erasure_tx ON erasure (tx, id);

-- Rows that were removed because of their age: whole months of bodies and recipients, or of everything.
CREATE TABLE pruning (
  id         uuid PRIMARY KEY, -- UUIDv7
  what       text NOT NULL CHECK (what IN ('people', 'calls')),
  month      text NOT NULL CHECK (month ~ '^\d{4}-\d{2}$'),
  reason     text NOT NULL,
  actor      text,
  kept       uuid[] NOT NULL, -- calls of that month that stay, because they are in doubt or waiting
  rows       bigint NOT NULL, -- the number of calls that were removed, or lost their bodies
  leaves     bigint NOT NULL, -- the number of removed records with a leaf. Removing people leaves records in place
  checkpoint text NOT NULL, -- the signed note that covers them, also stored outside
  pruned_at  timestamptz NOT NULL,
  signature  bytea NOT NULL, -- as above
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX pruning_tx ON pruning (tx, id);

-- The log ---------------------------------------------------------------------------------------------------
-- One Merkle tree (RFC 6962) over all records, in the order of their commits.

-- The leaves, in the order in which they were sealed. A row has neighboring leaves of one kind and one
-- checkpoint: their records in the order of their ids. A look-up finds the row of a record by the time in its
-- id.
CREATE TABLE log_leaves (
  first  bigint PRIMARY KEY CHECK (first >= 0), -- the index of the first of them
  kind   text NOT NULL, -- the table of the records
  span   int8range NOT NULL, -- from the milliseconds in the first id to those in the last
  ids    uuid[] NOT NULL CHECK (cardinality(ids) > 0), -- the primary keys of the records
  hashes bytea NOT NULL CHECK (octet_length(hashes) = 32 * cardinality(ids)) -- SHA-256(0x00 || record as canonical JSON) of each
);
-- Hashes do not get smaller. A proof reads a few out of thousands.
ALTER TABLE log_leaves ALTER ids SET STORAGE EXTERNAL, ALTER hashes SET STORAGE EXTERNAL;
CREATE INDEX log_leaves_kind ON log_leaves (kind, lower(span));
CREATE INDEX log_leaves_span ON log_leaves USING gist (span);

-- Returns the leaf of a record. Records of several kinds may have one id.
CREATE FUNCTION leaves_of(record_id uuid) RETURNS TABLE (index bigint, kind text, hash bytea) LANGUAGE sql STABLE AS $$
  SELECT l.first + p.place - 1, l.kind, substring(l.hashes FROM p.place * 32 - 31 FOR 32)
  FROM public.log_leaves l CROSS JOIN LATERAL (SELECT array_position(l.ids, record_id) AS place) p
  WHERE l.span @> ('x' || translate(left(record_id::text, 13), '-', ''))::bit(48)::bigint AND p.place IS NOT NULL
$$;

-- Roots of the full subtrees over 256, 65,536, … leaves, so that a proof reads hundreds of hashes and not
-- millions.
CREATE TABLE log_node (
  level smallint NOT NULL CHECK (level > 0 AND level % 8 = 0), -- over 2^level leaves
  index bigint NOT NULL CHECK (index >= 0),
  hash  bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (level, index)
);

-- The signed sizes and roots of the tree.
CREATE TABLE checkpoint (
  size           bigint PRIMARY KEY CHECK (size > 0),
  root           bytea NOT NULL CHECK (octet_length(root) = 32),
  note           text NOT NULL, -- C2SP signed note, which also names the two times below
  positions      jsonb NOT NULL, -- by table, the position (tx, id) up to which it was read
  sealed_at      timestamptz NOT NULL,
  complete_until timestamptz -- everything written before this time is sealed. Null if unknown
);

-- The search index ------------------------------------------------------------------------------------------
-- The search index. Auditors search the history with it. It is derived from the records and can be rebuilt
-- from them at any time. It only finds calls. Their content is read from the records, which are sealed.
--
-- Each call has one entry. What calls share is one of its `terms`, with a tag in front ('client:…',
-- 'country:KE'). One GIN index over the terms answers any combination of filters by intersecting lists of
-- entries, so two filters that each match a fifth of all calls and together none cost little. Filters of
-- payouts must hold for the same payout, so an entry also has the terms of each payout by itself, which are
-- checked for the calls that the index finds.
--
-- What identifies a call or a payout would be a new key of the GIN index each time. Its hash stands in
-- search_name instead, under BRIN indexes with Bloom filters, which cost a fifth. They find the few pages that
-- may have a hash. The entry has the text, which decides. Recipients are terms, because thousands of them are
-- looked up at once, and one look-up of a Bloom filter reads all filters.
--
-- The tables are UNLOGGED. They need no write-ahead log, because they are derived. After a crash of Postgres
-- and on a promoted standby they are all empty, and index_calls() fills them again.

-- A GIN key has a limit of 2,712 bytes, so longer values are replaced by their hash
-- (src/journal/lookups/search-terms.ts does the same). A line break separates terms. The functions are
-- STABLE, as the functions that they call are, so that Postgres inlines them.
CREATE FUNCTION search_value(value text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(value) <= 300 AND strpos(value, E'\n') = 0 THEN nullif(value, '')
    ELSE left(replace(value, E'\n', ' '), 200) || '#' || encode(sha256(convert_to(value, 'UTF8')), 'hex') END
$$;

CREATE FUNCTION search_term(tag text, value text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT tag || ':' || search_value(value)
$$;

-- The beginnings of a contact in lower case, at three lengths. A search by prefix looks up the longest
-- beginning that it covers, or the hash of one of ten characters. A contact that is shorter than a beginning is
-- its own, which no search looks up.
CREATE FUNCTION search_beginnings(contact text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT E'\n^' || left(contact, 3) || E'\n^' || left(contact, 5) || E'\n^' || left(contact, 7)
$$;

-- The hash by which search_name finds a name. Names with one hash are told apart by their text.
CREATE FUNCTION search_hash(name text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hashtextextended(nullif(name, ''), 0)
$$;

-- Slices divide the index for pages that are found piece by piece, in the order of the sort: weeks since
-- 1970, …
CREATE FUNCTION search_week(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 604800000)::integer
$$;

CREATE FUNCTION search_day(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::integer
$$;

CREATE FUNCTION search_hour(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 3600000)::integer
$$;

-- … and steps of a tenth of an amount. No amount comes last. Rounding does not matter.
CREATE FUNCTION search_step(usd numeric) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN usd IS NULL THEN -10000 WHEN usd <= 0 THEN -9999 ELSE floor(10 * ln(usd::float8))::integer END
$$;

CREATE UNLOGGED TABLE search_entry (
  call_id     uuid PRIMARY KEY,
  client_id   uuid NOT NULL,
  operation   text NOT NULL,
  state       text NOT NULL, -- see call_state
  process     integer,
  released_at timestamptz,
  expires_at  timestamptz,
  repeats     boolean NOT NULL, -- a refusal that only refers to another call
  total_usd   numeric,
  upstream_ms numeric,
  counted_usd numeric, -- the paid amount, with fees. Null for total_usd
  item_usd    numeric[] NOT NULL, -- of each payout
  -- The terms and names of each payout and its transactions, each after a line break. The first text has those
  -- of the transactions that belong to no payout for certain, and the names of the call.
  payouts     text[] NOT NULL,
  terms       text[] COLLATE "C" NOT NULL, -- those of the call and of all payouts, without names
  item_entry  text[], -- the last entry of each payout, if unusual. Null if all are usual
  item_fee_usd numeric[] -- the fee of each payout, less returned fees. Null without fees
);

-- Compression would take as long as all else for a call with hundreds of payouts.
ALTER TABLE search_entry ALTER payouts SET STORAGE EXTERNAL, ALTER terms SET STORAGE EXTERNAL;

-- The amounts of the payouts in their order. -1 is for none.
CREATE UNLOGGED TABLE search_item (
  usd     numeric NOT NULL,
  call_id uuid NOT NULL,
  PRIMARY KEY (usd, call_id)
);

-- The hashes of names. A row pairs any names of a call. Rows are only added, in the order of their indexing,
-- except for an erasure.
CREATE UNLOGGED TABLE search_name (
  call_id         uuid NOT NULL,
  request_id      bigint,
  idempotency_key bigint,
  reference       bigint,
  upstream_ref    bigint,
  upstream_id     bigint,
  beginning       bigint -- the first ten characters of a contact in lower case
) WITH (autovacuum_enabled = off); -- A row in reused space would change the filters of its page range.
CREATE INDEX search_name_call ON search_name (call_id);

-- The existing slices.
CREATE UNLOGGED TABLE search_slice (
  kind  text NOT NULL CHECK (kind IN ('week', 'item', 'total')),
  slice integer NOT NULL,
  PRIMARY KEY (kind, slice)
);

-- The progress of the index. It has all that `done` sees. Where more is to be done than fits in one go, the
-- next one begins after (after_tx, after_id), and ends at what `target` sees. Without a row, nothing is
-- indexed.
CREATE UNLOGGED TABLE search_position (
  one      boolean PRIMARY KEY DEFAULT TRUE CHECK (one),
  done     pg_snapshot NOT NULL,
  target   pg_snapshot,
  after_tx xid8,
  after_id uuid,
  built    boolean NOT NULL, -- whether the tables have their indexes
  summarized integer NOT NULL DEFAULT 0 -- the number of page ranges of search_name with Bloom filters
);

-- Returns the entry of all payouts of a call in this state, unless their records say otherwise (usualEntry of
-- src/operations/lifecycle/sums.ts).
CREATE FUNCTION usual_entry(state text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN state IN ('succeeded', 'confirmed') THEN 'paid' WHEN state IN ('unknown', 'in_progress', 'queued', 'pending_approval') THEN 'reserved'
    ELSE 'not_executed' END
$$;

-- Returns the payouts of a call whose last entry at an instant is not the usual one. Almost no call has one.
-- All other payouts have the usual one. Every state of a payout in SQL comes from here.
--   answered   the member `entries` of the outcome: one text for all payouts, or an array. Null before the outcome
--   items      the number of payouts
CREATE FUNCTION last_entries(call uuid, answered json, items integer, usual text, as_of timestamptz DEFAULT 'infinity')
RETURNS TABLE (pos integer, entry text) LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT last.pos, last.entry FROM (
    SELECT DISTINCT ON (e.pos) e.pos, e.entry FROM (
      SELECT n - 1 AS pos, CASE json_typeof(answered) WHEN 'string' THEN answered #>> '{}' ELSE answered ->> (n - 1) END AS entry,
        0 AS number
      FROM generate_series(1, items) AS n
      WHERE answered IS NOT NULL AND (json_typeof(answered) = 'array' OR answered #>> '{}' IS DISTINCT FROM usual)
      UNION ALL
      SELECT t.position, t.entry, s.number FROM settlement s
      CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS t(position integer, entry text)
      WHERE s.intent_id = call AND s.recorded_at <= as_of AND t.entry <> 'fee'
    ) AS e ORDER BY e.pos, e.number DESC
  ) AS last WHERE last.entry IS DISTINCT FROM usual
$$;

-- The entries as they must be, with the hashes of their names. Each document is parsed once. Contacts are
-- searched in lower case. The texts of a payout are in a fixed order, so that equal records have equal entries
-- and can be verified. `known` is of the payouts and of `terms`, `own` only of the payouts, and `starts` only of
-- `terms`.
CREATE VIEW call_entry AS
  SELECT c.call_id, c.client_id, c.operation, c.state, c.process, c.released_at, c.expires_at, c.repeats, c.total_usd, c.upstream_ms, c.counted_usd,
    coalesce(p.item_usd, '{}') AS item_usd, p.payouts,
    string_to_array(concat(
      'week:', search_week(c.call_id), E'\nhour:', search_hour(c.call_id), E'\ntotal:', search_step(c.total_usd),
      E'\nclient:', c.client_id, E'\nkey:', r.key_id, E'\nstate:', c.state, E'\napproval:' || c.approval,
      search_term(E'\noperation', c.operation), search_term(E'\nactor', who.name), E'\nperson:' || r.person_id, E'\nsource:' || r.actor_source,
      search_term(E'\naddress', r.client_address), p.terms), E'\n') AS terms,
    p.item_entry, p.item_fee_usd,
    search_hash(r.request_id) AS request_id, search_hash(key.name) AS idempotency_key, p.reference, p.upstream_ref, p.upstream_id, p.beginning
  FROM call_state c
  LEFT JOIN intent_body b ON b.intent_id = c.call_id
  CROSS JOIN LATERAL json_to_record(c.request) AS r(
    key_id text, actor_source text, actor_commitment text, person_id uuid, idempotency_key text, request_id text, client_address text, items json)
  CROSS JOIN LATERAL json_to_record(coalesce(c.answer, '{}')) AS a(items json, entries json)
  LEFT JOIN person who ON who.id = r.person_id AND is_committed(who.salt, who.name, decode(r.actor_commitment, 'hex'))
  CROSS JOIN LATERAL (SELECT coalesce(r.idempotency_key, b.idempotency_key) AS name) AS key
  CROSS JOIN LATERAL (
    WITH lines AS MATERIALIZED (
      SELECT 0 AS place, NULL::numeric AS usd, '' AS known, concat(search_term(E'\nidempotency', key.name), search_term(E'\nrequest', r.request_id)) AS own,
        '' AS starts, NULL::text AS entry, NULL::numeric AS fee,
        NULL::bigint AS reference, NULL::bigint AS upstream_ref, NULL::bigint AS upstream_id, NULL::bigint AS beginning, NULL::bigint AS second, NULL::bigint AS third
      UNION ALL
      SELECT n.place, n.amount_usd, concat(
        E'\nitem:' || search_step(n.amount_usd), search_term(E'\ncountry', known.country),
        search_term(E'\nnetwork', n.network_code), search_term(E'\nref', n.upstream_ref), search_term(E'\nreceiver', n.receiver)),
        search_term(E'\nreference', n.reference), search_beginnings(lower(n.receiver)), NULL, NULL,
        search_hash(n.reference), NULL, NULL, search_hash(left(lower(n.receiver), 10)), NULL, NULL
      FROM ROWS FROM (json_to_recordset(r.items) AS (
        amount_usd numeric, country text, network_code text, reference text, upstream_ref text, receiver text
      )) WITH ORDINALITY AS n(amount_usd, country, network_code, reference, upstream_ref, receiver, place)
      -- Postgres does not inline search_term() with an argument that is expensive to compute.
      CROSS JOIN LATERAL (SELECT canonical_country(n.country) AS country OFFSET 0) AS known
      UNION ALL
      SELECT n.position + 1, NULL, concat(
        search_term(E'\nto', n.email), search_term(E'\nto', n.phone), search_term(E'\nto', n.handle)), NULL,
        concat(search_beginnings(n.email), search_beginnings(n.phone), search_beginnings(n.handle)), NULL, NULL,
        NULL, NULL, NULL, search_hash(left(n.phone, 10)), search_hash(left(n.email, 10)), search_hash(left(n.handle, 10))
      FROM json_to_recordset(lower(b.people)::json) AS n(position integer, email text, phone text, handle text)
      UNION ALL
      SELECT coalesce(n.position, -1) + 1, NULL, concat(search_term(E'\nref', n.batch_ref),
          -- The book has the names of the others.
          CASE WHEN n.position IS NULL THEN concat(search_term(E'\nref', n.upstream_ref), search_term(E'\nref', n.upstream_id)) END),
        CASE WHEN n.position IS NOT NULL THEN concat(search_term(E'\nref', n.upstream_ref), search_term(E'\nref', n.upstream_id)) END,
        NULL, NULL, CASE WHEN n.position IS NOT NULL THEN n.fee_usd END,
        NULL, search_hash(n.upstream_ref), search_hash(n.upstream_id), NULL, NULL, NULL
      FROM json_to_recordset(a.items) AS n(
        position integer, upstream_ref text, upstream_id text, batch_ref text, fee_usd numeric)
      UNION ALL
      SELECT n.position + 1, NULL, search_term(E'\nref', n.batch_ref), concat(search_term(E'\nref', n.upstream_ref), search_term(E'\nref', n.upstream_id)),
        NULL, NULL, CASE WHEN n.entry = 'fee' THEN CASE n."to" WHEN 'fees' THEN n.amount_usd ELSE -n.amount_usd END END,
        NULL, search_hash(n.upstream_ref), search_hash(n.upstream_id), NULL, NULL, NULL
      FROM settlement s CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS n(
        position integer, upstream_ref text, upstream_id text, batch_ref text, entry text, "to" text, amount_usd numeric)
      WHERE s.intent_id = c.call_id
      UNION ALL
      SELECT e.pos + 1, NULL, E'\nentry:' || e.entry, NULL, NULL, e.entry, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM last_entries(c.call_id, a.entries, json_array_length(r.items), usual_entry(c.state)) AS e
    )
    SELECT * FROM (
      SELECT array_agg(usd ORDER BY place) FILTER (WHERE place > 0) AS item_usd, array_agg(texts ORDER BY place) AS payouts,
        string_agg(terms, '' ORDER BY place) AS terms,
        CASE WHEN count(entry) > 0 THEN array_agg(entry ORDER BY place) FILTER (WHERE place > 0) END AS item_entry,
        CASE WHEN count(fee) > 0 THEN array_agg(fee ORDER BY place) FILTER (WHERE place > 0) END AS item_fee_usd
      FROM (
        SELECT place, max(usd) AS usd, string_agg(concat(known, own), '' ORDER BY concat(known, own, starts) COLLATE "C") AS texts,
          string_agg(concat(known, starts), '' ORDER BY concat(known, own, starts) COLLATE "C") AS terms, max(entry) AS entry, sum(fee) AS fee
        FROM lines GROUP BY place
      ) AS places
    ) AS shown CROSS JOIN (
      SELECT array_agg(reference) FILTER (WHERE reference IS NOT NULL) AS reference,
        array_agg(upstream_ref) FILTER (WHERE upstream_ref IS NOT NULL) AS upstream_ref, array_agg(upstream_id) FILTER (WHERE upstream_id IS NOT NULL) AS upstream_id,
        array_agg(beginning) FILTER (WHERE beginning IS NOT NULL) || array_agg(second) FILTER (WHERE second IS NOT NULL)
          || array_agg(third) FILTER (WHERE third IS NOT NULL) AS beginning
      FROM lines
    ) AS named
  ) AS p;

-- Inserts the entries of these calls, which have none. `named` are those among them with rows in search_name.
CREATE FUNCTION insert_entries(call_ids uuid[], named uuid[]) RETURNS void LANGUAGE sql AS $$
  WITH entries AS MATERIALIZED (
    SELECT * FROM call_entry WHERE call_id = ANY (call_ids)
  ), inserted AS (
    INSERT INTO search_entry
    SELECT call_id, client_id, operation, state, process, released_at, expires_at, repeats, total_usd, upstream_ms, counted_usd, item_usd,
      payouts, terms, item_entry, item_fee_usd FROM entries
  ), names AS (
    INSERT INTO search_name
    SELECT e.call_id, n.* FROM entries e CROSS JOIN LATERAL unnest(
      CASE WHEN e.call_id = ANY (named) THEN ARRAY(SELECT unnest(array_remove(ARRAY[e.request_id], NULL)) EXCEPT SELECT request_id FROM search_name WHERE call_id = e.call_id)
        ELSE array_remove(ARRAY[e.request_id], NULL) END,
      CASE WHEN e.call_id = ANY (named) THEN ARRAY(SELECT unnest(array_remove(ARRAY[e.idempotency_key], NULL)) EXCEPT SELECT idempotency_key FROM search_name WHERE call_id = e.call_id)
        ELSE array_remove(ARRAY[e.idempotency_key], NULL) END,
      CASE WHEN e.call_id = ANY (named) THEN ARRAY(SELECT unnest(e.reference) EXCEPT SELECT reference FROM search_name WHERE call_id = e.call_id)
        ELSE e.reference END,
      CASE WHEN e.call_id = ANY (named) THEN ARRAY(SELECT unnest(e.upstream_ref) EXCEPT SELECT upstream_ref FROM search_name WHERE call_id = e.call_id)
        ELSE e.upstream_ref END,
      CASE WHEN e.call_id = ANY (named) THEN ARRAY(SELECT unnest(e.upstream_id) EXCEPT SELECT upstream_id FROM search_name WHERE call_id = e.call_id)
        ELSE e.upstream_id END,
      CASE WHEN e.call_id = ANY (named) THEN ARRAY(SELECT unnest(e.beginning) EXCEPT SELECT beginning FROM search_name WHERE call_id = e.call_id)
        ELSE e.beginning END) AS n
  ), items AS (
    INSERT INTO search_item
    SELECT DISTINCT coalesce(usd, -1), call_id FROM entries CROSS JOIN LATERAL unnest(item_usd) AS usd RETURNING usd
  )
  INSERT INTO search_slice
  SELECT 'week', search_week(call_id) FROM entries
  UNION SELECT 'total', search_step(total_usd) FROM entries
  UNION SELECT 'item', search_step(nullif(usd, -1)) FROM items
  ON CONFLICT DO NOTHING;
$$;

-- Rebuilds the entries of these calls. Erasing and pruning call it, too, and remove names. For a few calls of
-- large tables, index lookups are right however old the statistics are.
CREATE FUNCTION reindex_calls(call_ids uuid[], keep_names boolean DEFAULT FALSE) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET work_mem = '32MB' SET jit = off AS $$
DECLARE
  known uuid[];
BEGIN
  -- Both tables at once, and each amount by its whole key: thousands of calls may have the same amount.
  WITH old AS (
    DELETE FROM search_entry WHERE call_id = ANY (call_ids) RETURNING call_id, item_usd
  ), items AS MATERIALIZED (
    SELECT DISTINCT coalesce(usd, -1) AS usd, old.call_id FROM old CROSS JOIN LATERAL unnest(old.item_usd) AS usd
  ), removed AS (
    DELETE FROM search_item i USING items o WHERE i.usd = o.usd AND i.call_id = o.call_id
  )
  SELECT array_agg(call_id) INTO known FROM old;
  IF NOT keep_names THEN
    DELETE FROM search_name WHERE call_id = ANY (known);
    known := NULL;
  END IF;
  PERFORM insert_entries(call_ids, known);
END
$$;

-- While the index is filled from the beginning, it has only primary keys and the calls of names. Building the
-- others is faster than adding to them.
CREATE FUNCTION drop_search_indexes() RETURNS void LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
  DROP INDEX IF EXISTS search_entry_terms, search_entry_total_usd, search_entry_in_progress, search_entry_expires_at,
    search_name_time, search_name_request_id, search_name_idempotency_key, search_name_reference, search_name_upstream_ref,
    search_name_upstream_id, search_name_beginning;
$$;

-- Returns the indexes with Bloom filters.
CREATE FUNCTION name_filters() RETURNS TABLE (indexrelid regclass) LANGUAGE sql STABLE AS $$
  SELECT indexrelid::regclass FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam
  WHERE indrelid = 'search_name'::regclass AND amname = 'brin'
$$;

-- Adds the Bloom filters of the page ranges of search_name that have been filled. One that is still being
-- filled has none: a look-up reads it whole, and rows are added to it at no cost. One index has one filter for
-- each range, because several do not fit on a page.
CREATE FUNCTION summarize_names() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  filled CONSTANT integer NOT NULL := pg_relation_size('search_name') / 8192 / 16;
  next integer NOT NULL := (SELECT summarized FROM search_position);
BEGIN
  WHILE next < filled LOOP
    PERFORM brin_summarize_range(indexrelid, next * 16) FROM name_filters();
    next := next + 1;
    UPDATE search_position SET summarized = next;
  END LOOP;
END
$$;

CREATE FUNCTION build_search_indexes() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET maintenance_work_mem = '256MB' AS $$
DECLARE
  kind text;
BEGIN
  PERFORM pg_advisory_xact_lock(7070010);
  IF (SELECT built FROM search_position) THEN
    RETURN;
  END IF;
  CREATE INDEX search_entry_total_usd ON search_entry ((coalesce(total_usd, -1)), call_id);
  -- A batch stays in the list of what is pending until all of it is sorted in at once, at its end.
  CREATE INDEX search_entry_terms ON search_entry USING gin (terms) WITH (gin_pending_list_limit = 32768);
  -- What depends on how late it is: few calls are in progress or may be approved, among all that once were.
  CREATE INDEX search_entry_in_progress ON search_entry (released_at) WHERE state = 'in_progress';
  CREATE INDEX search_entry_expires_at ON search_entry (expires_at) WHERE expires_at IS NOT NULL;
  -- The rows of 16 pages have at most some 1,600 names of a kind. A look-up reads two ranges in a thousand for nothing.
  FOREACH kind IN ARRAY ARRAY['request_id', 'idempotency_key', 'reference', 'upstream_ref', 'upstream_id', 'beginning'] LOOP
    EXECUTE format('CREATE INDEX search_name_%1$s ON search_name USING brin (%1$s
      int8_bloom_ops (n_distinct_per_range = 1600, false_positive_rate = 0.002)) WITH (pages_per_range = 16)', kind);
  END LOOP;
  CREATE INDEX search_name_time ON search_name USING brin (call_id) WITH (pages_per_range = 16);
  ANALYZE search_entry, search_item, search_slice;
  UPDATE search_position SET built = TRUE, summarized = pg_relation_size('search_name') / 8192 / 16;
  -- A filter of the last range would change with each row, which costs a hundred times as much as the row.
  PERFORM brin_desummarize_range(indexrelid, summarized * 16) FROM search_position, name_filters();
END
$$;

-- Indexes records committed since its last call, about `batch` of them. A reader that remembered only how far
-- it came would miss what commits late, or read again and again what one long transaction keeps from being
-- final; what a snapshot had seen is known exactly. A call counts as much as it has payouts: a batch of calls
-- with hundreds of them each would take longer than a statement may, and be tried again for ever.
-- @returns 'done', or 'more' if some records committed before the call may be left, or 'unbuilt' if all
-- entries are there and build_search_indexes() must build the indexes.
CREATE FUNCTION index_calls(batch integer) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
  at search_position;
  resumed boolean;
  foreign_from xid8;
  next record;
BEGIN
  IF NOT (SELECT built OR target IS NOT NULL FROM search_position) THEN
    RETURN 'unbuilt'; -- That may take many minutes, so it does not hold the lock.
  END IF;
  -- LOCKS.searchIndex of src/platform/database/locks.ts. A statement that waited here indexes what arrived
  -- meanwhile.
  PERFORM pg_advisory_xact_lock(7070010);
  SELECT * INTO at FROM search_position;
  IF NOT FOUND THEN
    PERFORM drop_search_indexes();
    INSERT INTO search_position (done, built) VALUES ('3:3:', FALSE) RETURNING * INTO STRICT at;
  END IF;
  IF pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax(at.done) THEN
    -- Transaction numbers start again after a backup was restored to a new server. All records are read
    -- again.
    UPDATE search_position SET done = '3:3:', target = NULL, after_tx = NULL, after_id = NULL RETURNING * INTO STRICT at;
  END IF;
  resumed := at.target IS NOT NULL;
  IF NOT resumed THEN
    SELECT pg_current_snapshot(), pg_snapshot_xmin(at.done), '00000000-0000-0000-0000-000000000000'::uuid
      INTO at.target, at.after_tx, at.after_id;
  END IF;
  -- Records that were restored from another server may have numbers that this server has not reached. They
  -- are read when the index is filled from its beginning.
  IF pg_snapshot_xmax(at.done) = '3' THEN
    foreign_from := pg_snapshot_xmax(pg_current_snapshot());
  END IF;
  WITH changed AS (
    (SELECT tx, id, item_count FROM intent WHERE (tx, id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id, NULL FROM outcome WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, id, 0 FROM refusal WHERE (tx, id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id, NULL FROM decision WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id, NULL FROM settlement WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    ORDER BY 1, 2 LIMIT batch
  ), weighed AS (
    SELECT tx, id, coalesce(sum(1 + coalesce(item_count, (SELECT i.item_count FROM intent i WHERE i.id = changed.id), 0))
      OVER (ORDER BY tx, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM changed
  )
  SELECT array_agg(DISTINCT id) AS ids, count(*) AS rows, (SELECT count(*) FROM changed) AS found,
    (array_agg(tx ORDER BY tx DESC, id DESC))[1] AS tx, (array_agg(id ORDER BY tx DESC, id DESC))[1] AS id
  INTO next FROM weighed WHERE before < 5 * batch;
  IF next.rows = 0 AND NOT resumed AND at.built THEN
    RETURN 'done'; -- Nothing to write: a search changes nothing if the index is up to date.
  END IF;
  IF next.rows > 0 THEN
    PERFORM reindex_calls(next.ids, keep_names => TRUE);
    PERFORM pg_advisory_xact_lock(7070011); -- LOCKS.book. Readings are entered meanwhile.
    PERFORM enter_calls(next.ids);
    IF at.built THEN
      PERFORM gin_clean_pending_list('search_entry_terms'); -- A search would otherwise read the list entry by entry.
      PERFORM summarize_names();
    END IF;
  END IF;
  IF next.rows < batch AND next.rows = next.found THEN
    UPDATE search_position SET done = at.target, target = NULL, after_tx = NULL, after_id = NULL;
    RETURN CASE WHEN NOT at.built THEN 'unbuilt' WHEN resumed THEN 'more' ELSE 'done' END; -- Records that were committed after the target was set are left for the next call.
  END IF;
  -- The last transaction may have written to several tables for one call. They are read in order, so nothing
  -- earlier is left.
  UPDATE search_position SET target = at.target, after_tx = next.tx, after_id = next.id;
  RETURN 'more';
END
$$;

-- The rebuilt share of the index, from 0 to 1, by the numbers of transactions.
CREATE FUNCTION search_progress() RETURNS double precision LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT coalesce((SELECT CASE WHEN built THEN 1 WHEN target IS NULL THEN 0.99
      ELSE 0.99 * after_tx::text::float8 / pg_snapshot_xmax(target)::text::float8 END FROM search_position), 0)
$$;

-- Rebuilds the whole index at once, while searches wait. It reads calls in their order, so that pages by time
-- read adjacent rows, and some at a time, so that they fit in memory.
CREATE FUNCTION rebuild_search_index() RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET work_mem = '64MB' SET jit = off AS $$
DECLARE
  call_ids uuid[];
  position uuid NOT NULL := '00000000-0000-0000-0000-000000000000';
BEGIN
  PERFORM pg_advisory_xact_lock(7070010);
  TRUNCATE search_entry, search_item, search_name, search_slice, search_position;
  PERFORM drop_search_indexes();
  INSERT INTO search_position (done, built) SELECT pg_current_snapshot(), FALSE;
  LOOP
    SELECT array_agg(id ORDER BY id) INTO call_ids FROM (
      (SELECT id FROM intent WHERE id > position ORDER BY id LIMIT 2000)
      UNION (SELECT id FROM refusal WHERE id > position ORDER BY id LIMIT 2000) ORDER BY id LIMIT 2000) AS next;
    EXIT WHEN call_ids IS NULL;
    PERFORM reindex_calls(call_ids);
    position := call_ids[cardinality(call_ids)];
  END LOOP;
  PERFORM build_search_indexes();
END
$$;

-- An incomplete index would hide calls. All readers use these views, which fail until it is complete.
CREATE FUNCTION search_is_complete() RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM search_position WHERE built) THEN
    RETURN TRUE;
  END IF;
  RAISE EXCEPTION 'the search index is being rebuilt' USING ERRCODE = 'cannot_connect_now';
END
$$;

CREATE VIEW indexed_call AS SELECT * FROM search_entry WHERE (SELECT search_is_complete());
CREATE VIEW indexed_item AS SELECT * FROM search_item WHERE (SELECT search_is_complete());
CREATE VIEW indexed_slice AS SELECT * FROM search_slice WHERE (SELECT search_is_complete());
CREATE VIEW indexed_name AS SELECT * FROM search_name WHERE (SELECT search_is_complete());

-- Returns the calls that may have one of these names, as many as `most` and one more. Their entries decide.
--   kind             a column of search_name, or 'transaction' for the names of transactions and batches
--   from_id, to_id   only calls from the first on and before the second
CREATE FUNCTION calls_named(kind text, names text[], most integer, from_id uuid DEFAULT NULL, to_id uuid DEFAULT NULL)
RETURNS uuid[] LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET jit = off AS $$
DECLARE
  found uuid[];
  hashes CONSTANT bigint[] NOT NULL := ARRAY(SELECT DISTINCT search_hash(name) FROM unnest(names) AS name WHERE name <> '');
  range CONSTANT text NOT NULL := concat(CASE WHEN from_id IS NOT NULL THEN ' AND call_id >= $3' END, CASE WHEN to_id IS NOT NULL THEN ' AND call_id < $4' END);
BEGIN
  PERFORM search_is_complete();
  IF hashes = '{}' THEN
    RETURN '{}';
  END IF;
  EXECUTE CASE
    WHEN kind = 'transaction' THEN format('SELECT array_agg(call_id) FROM (
        (SELECT call_id FROM search_name WHERE (upstream_ref = ANY ($2) OR upstream_id = ANY ($2))%1$s LIMIT $1 + 1)
        UNION (SELECT call_id FROM search_entry WHERE terms && $5%1$s LIMIT $1 + 1)) AS found', range)
    -- Each look-up reads all filters. For many, it is faster to read all rows of the period.
    ELSE format('SELECT array_agg(call_id) FROM (SELECT call_id FROM search_name WHERE %I%s = ANY ($2)%s LIMIT $1 + 1) AS found',
      kind, CASE WHEN cardinality(hashes) > 20 THEN ' + 0' END, range)
    END
    INTO found USING most, hashes, from_id, to_id, ARRAY(SELECT search_term('ref', name) FROM unnest(names) AS name);
  RETURN coalesce(found, '{}');
END
$$;

SELECT rebuild_search_index();

-- Reconciliation --------------------------------------------------------------------------------------------
-- The upstream's transactions, their differences from the records, and the decisions about each difference.

-- One reading of a source: a request to the upstream, committed before it is sent, or an imported statement.
CREATE TABLE source_read (
  id        uuid PRIMARY KEY, -- UUIDv7
  account   text CHECK (account <> 'main'), -- the account that was read. Null for main
  source    text NOT NULL CHECK (source IN ('transactions', 'changes', 'batch', 'transaction', 'wallets', 'statement')),
  subject   text, -- the requested batch_ref or upstream_id, or the statement's file name
  from_at   timestamptz, -- only transactions from here …
  to_at     timestamptz, -- … up to here are kept. Null keeps all
  mapping   json, -- for a statement: its mapping of columns to fields
  caused_by uuid, -- the run, the call in doubt or the event that caused it
  client_id uuid, -- the author of an import. Null for the proxy itself
  key_id    uuid,
  actor     text,
  tx        xid8 NOT NULL DEFAULT pg_current_xact_id(),
  read_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX source_read_tx ON source_read (tx, id);
CREATE INDEX source_read_source ON source_read (source, id);
CREATE INDEX source_read_cause ON source_read (caused_by, id) WHERE caused_by IS NOT NULL;

-- The end of a reading. A reading without an end was interrupted, and its rows count for nothing.
CREATE TABLE source_read_end (
  read_id     uuid PRIMARY KEY,
  complete    boolean NOT NULL, -- whether it is complete and the upstream reported success
  failure     text, -- a short code if it is not complete
  http_status smallint,
  bytes       bigint NOT NULL,
  sha256      bytea, -- SHA-256 of the bytes as received
  rows        bigint NOT NULL, -- the number of listed transactions, or lines
  kept        bigint NOT NULL, -- the number of them in upstream_transaction
  faults      integer NOT NULL, -- the number of unreadable ones
  -- SHA-256 of the rows in each table, hex, as a JSON object by the names of the tables
  -- (src/journal/reconciliation/evidence.ts). A table without rows is left out. Null if no table has any.
  evidence    json,
  tx          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  ended_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX source_read_end_tx ON source_read_end (tx, read_id);
CREATE INDEX source_read_end_sha256 ON source_read_end (sha256);

-- The reason why the resolver could not settle a call in doubt. An ambiguous call waits for a
-- person, or for a later verdict.
CREATE TABLE verdict (
  id         uuid PRIMARY KEY, -- UUIDv7
  intent_id  uuid NOT NULL,
  verdict    text NOT NULL CHECK (verdict IN ('confirmed', 'not_executed', 'ambiguous')),
  reason     text NOT NULL,
  evidence   json NOT NULL, -- the readings and transactions that support it, without names
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX verdict_tx ON verdict (tx, id);
CREATE INDEX verdict_intent ON verdict (intent_id, id);

-- The upstream's events. They are hints: the proxy never believes one before it has read the transaction
-- back.
CREATE TABLE upstream_event (
  id           uuid PRIMARY KEY, -- UUIDv7
  account      text CHECK (account <> 'main'), -- the account that sent it. Null for main
  event_id     text NOT NULL UNIQUE, -- as signed, after the account if it is not main; a repeated event is not recorded again
  event_type   text,
  batch_ref    text,
  upstream_id  text,
  upstream_ref text,
  status       text,
  amount_usd   numeric,
  signed_at    timestamptz NOT NULL,
  tx           xid8 NOT NULL DEFAULT pg_current_xact_id(),
  received_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX upstream_event_tx ON upstream_event (tx, id);

-- One comparison of a period. A run without an end is in progress and its lock is held, or waits for a
-- worker.
CREATE TABLE reconciliation_run (
  id         uuid PRIMARY KEY, -- UUIDv7
  from_at    timestamptz NOT NULL,
  to_at      timestamptz NOT NULL CHECK (to_at > from_at),
  as_of      timestamptz NOT NULL, -- the state of our records that is compared
  historical boolean NOT NULL, -- a historical run changes the state of no finding
  read_id    uuid, -- the statement or earlier reading to compare with. Null for a new reading
  settings   json NOT NULL, -- tolerances, so that a repeated run gives the same result
  account    text CHECK (account <> 'main'), -- the compared account. Null for main
  due_at     timestamptz, -- the scheduled time. Null for a run of a person
  client_id  uuid, -- the author. Null for the schedule
  key_id     uuid,
  actor      text,
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
  started_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX reconciliation_run_due ON reconciliation_run (coalesce(account, 'main'), due_at);
CREATE INDEX reconciliation_run_tx ON reconciliation_run (tx, id);

-- The end of a run. Without findings, a run is clean only if its listing is complete and nothing of its
-- period is in doubt.
CREATE TABLE reconciliation_run_end (
  run_id   uuid PRIMARY KEY,
  result   text NOT NULL CHECK (result IN ('clean', 'clean_with_doubts', 'incomplete', 'findings', 'failed')),
  failure  text, -- the reason for a missing result, as a sentence
  read_id  uuid, -- the source that it compared with
  totals   json, -- counts and sums, the equation, by day and by category; null where it failed
  evidence json, -- hashes of its matches, as in source_read_end
  tx       xid8 NOT NULL DEFAULT pg_current_xact_id(),
  ended_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX reconciliation_run_end_tx ON reconciliation_run_end (tx, run_id);

-- A difference as the first run saw it. Its category and subject are the same in every run.
CREATE TABLE finding (
  id           uuid PRIMARY KEY, -- UUIDv7
  account      text CHECK (account <> 'main'), -- null for main
  category     text NOT NULL CHECK (category IN ('missing_upstream', 'missing_local', 'amount_over', 'amount_under', 'recipient',
    'status', 'refund', 'reversal', 'duplicate_upstream', 'key_paid_twice', 'late', 'fee', 'balance_gap', 'unexplained_debit',
    'unexplained_credit', 'unrecognised_status')),
  subject      text NOT NULL, -- identifies the difference, without names
  call_id      uuid, -- ours, where there is one …
  position     integer,
  upstream_ref text, -- … and theirs
  upstream_id  text,
  batch_ref    text,
  wallet_id    text,
  occurred_at  timestamptz NOT NULL, -- the time of the payment, which assigns it to a period
  run_id       uuid NOT NULL, -- the run that saw it first
  tx           xid8 NOT NULL DEFAULT pg_current_xact_id(),
  found_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (category, subject)
);
CREATE INDEX finding_tx ON finding (tx, id);
CREATE INDEX finding_occurred ON finding (occurred_at);
CREATE INDEX finding_call ON finding (call_id) WHERE call_id IS NOT NULL;

-- A finding as one run saw it.
CREATE TABLE finding_sight (
  id         uuid PRIMARY KEY, -- UUIDv7
  finding_id uuid NOT NULL,
  run_id     uuid NOT NULL,
  impact_usd numeric NOT NULL, -- its part of the upstream's total minus ours
  fields     json NOT NULL, -- [{field, ours, theirs}]; people are masked
  evidence   json NOT NULL, -- the supporting rows
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (finding_id, run_id)
);
CREATE INDEX finding_sight_tx ON finding_sight (tx, id);
CREATE INDEX finding_sight_run ON finding_sight (run_id, finding_id);

-- A decision about a finding. A finding without any is open.
CREATE TABLE finding_step (
  id         uuid PRIMARY KEY, -- UUIDv7
  finding_id uuid NOT NULL,
  state      text NOT NULL CHECK (state IN ('explained', 'resolved', 'accepted', 'reopened')),
  reason     text NOT NULL,
  impact_usd numeric NOT NULL, -- its impact at the time of the decision
  run_id     uuid, -- the run that decided. Null for a person
  client_id  uuid,
  key_id     uuid,
  actor      text,
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX finding_step_tx ON finding_step (tx, id);
CREATE INDEX finding_step_finding ON finding_step (finding_id, id);

-- The next four tables hold the read data, as evidence.

-- A transaction as a source showed it (docs/reference/upstream.md, "Transaction record"). Only compared
-- fields are stored. It names people and can be erased, so the sealed hash has salted commitments to them: to
-- the recipient (email, phone, handle), the receiver and the reference. An erasure removes a text with its
-- salt, and stores the commitment.
CREATE TABLE upstream_transaction (
  read_id      uuid NOT NULL,
  ordinal      bigint NOT NULL, -- the position in the answer, from 0; for a statement, its line
  upstream_ref text,
  upstream_id  text,
  batch_ref    text,
  issued_at    timestamptz,
  type         text,
  status       text, -- the upstream's status
  amount_usd   numeric(20,6), -- null if unreadable
  fee_usd      numeric(20,6),
  email        text,
  phone        text,
  handle       text,
  receiver     text,
  country      text,
  network_code text,
  reference    text,
  recipient_salt       bytea,
  recipient_commitment bytea,
  receiver_salt        bytea,
  receiver_commitment  bytea,
  reference_salt       bytea,
  reference_commitment bytea,
  PRIMARY KEY (read_id, ordinal)
) PARTITION BY RANGE (read_id);

CREATE TABLE upstream_wallet (
  read_id   uuid NOT NULL,
  wallet_id text NOT NULL,
  type      text,
  balance   numeric,
  PRIMARY KEY (read_id, wallet_id)
);

-- The newest entries of a wallet, newest first.
CREATE TABLE upstream_wallet_entry (
  read_id        uuid NOT NULL,
  wallet_id      text NOT NULL,
  ordinal        integer NOT NULL,
  amount         numeric,
  balance_before numeric,
  new_balance    numeric,
  description    text,
  entered_at     timestamptz,
  PRIMARY KEY (read_id, wallet_id, ordinal)
);

-- A line of a statement that could not be used.
CREATE TABLE statement_fault (
  read_id uuid NOT NULL,
  line    bigint NOT NULL,
  reason  text NOT NULL, -- names the column, never its value
  PRIMARY KEY (read_id, line)
);

-- Work. A payment of ours and its transaction, with the rule that matched them and the certainty.
CREATE TABLE reconciliation_match (
  run_id    uuid NOT NULL,
  call_id   uuid NOT NULL,
  position  integer NOT NULL,
  read_id   uuid, -- the reading of the transaction. Null for the run's own source
  ordinal   bigint NOT NULL, -- its position there
  rule      text NOT NULL CHECK (rule IN ('own_id', 'upstream_ref', 'upstream_id', 'batch_ref', 'reference', 'fingerprint')),
  certainty text NOT NULL CHECK (certainty IN ('certain', 'probable', 'possible')),
  PRIMARY KEY (run_id, call_id, position)
) PARTITION BY RANGE (run_id);

-- The progress of a run. If a crash loses it, the run shows it again.
CREATE UNLOGGED TABLE reconciliation_progress (
  run_id     uuid PRIMARY KEY,
  step       text NOT NULL,
  done       bigint NOT NULL,
  of         bigint, -- null if unknown
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Work of the workers ---------------------------------------------------------------------------------------

-- Requests of the proxies to the workers. A row is deleted when its work is done. If a worker is killed, the
-- next one does it.
CREATE TABLE worker_task (
  id       uuid PRIMARY KEY, -- the ID of the event to be read back, or of the round
  kind     text NOT NULL CHECK (kind IN ('read_back', 'round')),
  result   json, -- the result of a round, once known
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The status words of the upstream that have no meaning (src/operations/lifecycle/statuses.ts), for an
-- operator to map.
CREATE TABLE unheard_status (
  word          text PRIMARY KEY, -- in lower case, contacts masked
  times         bigint NOT NULL, -- the number of times that it was read
  call_id       uuid, -- a call whose answer has it. Null if only listings or events do
  upstream_ref  text, -- of a transaction with it
  first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_seen_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Space for outcomes ----------------------------------------------------------------------------------------

-- Space that is kept free for outcomes (src/continuity/space/reserve.ts): rows without meaning, one for each
-- page. It is not logged, so it costs no WAL, and a crash leaves it empty. It has no text, whose TOAST index
-- would need a page of a full disk to be emptied. Half a kilobyte is more than a tenth of a page can take
-- twice.
CREATE UNLOGGED TABLE space_reserve (
  a name NOT NULL DEFAULT '', b name NOT NULL DEFAULT '', c name NOT NULL DEFAULT '', d name NOT NULL DEFAULT '',
  e name NOT NULL DEFAULT '', f name NOT NULL DEFAULT '', g name NOT NULL DEFAULT '', h name NOT NULL DEFAULT ''
) WITH (fillfactor = 10);

-- Builds the reserve if it is smaller than wanted, and returns its bytes. It is only built if there is space
-- for as much again. If there is not, everything is taken back, because a new file is removed with its
-- transaction.
CREATE FUNCTION keep_space_reserve(wanted bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  pages bigint := wanted / 8192;
BEGIN
  IF pg_relation_size('space_reserve') >= pages * 8192 THEN
    RETURN pg_relation_size('space_reserve');
  END IF;
  LOCK TABLE space_reserve IN ACCESS EXCLUSIVE MODE;
  IF pg_relation_size('space_reserve') < pages * 8192 THEN -- another instance may have built it meanwhile
    TRUNCATE space_reserve;
    INSERT INTO space_reserve (a) SELECT '' FROM generate_series(1, 2 * pages);
    TRUNCATE space_reserve;
    INSERT INTO space_reserve (a) SELECT '' FROM generate_series(1, pages);
  END IF;
  RETURN pg_relation_size('space_reserve');
END
$$;

-- Gives the reserved space back to the disk, and returns how many bytes that were.
CREATE FUNCTION release_space_reserve() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  bytes bigint;
BEGIN
  LOCK TABLE space_reserve IN ACCESS EXCLUSIVE MODE;
  bytes := pg_relation_size('space_reserve');
  IF bytes > 0 THEN
    TRUNCATE space_reserve;
  END IF;
  RETURN bytes;
END
$$;

-- Guards and partitions -------------------------------------------------------------------------------------

-- Returns the tables to which rows are only added: the records and the log.
CREATE FUNCTION append_only_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[
    'intent', 'outcome', 'refusal', 'answer_shape',
    'decision', 'settlement', 'stop', 'stop_lift', 'activity',
    'access', 'access_end', 'erasure', 'pruning',
    'log_leaves', 'log_node', 'checkpoint',
    'source_read', 'source_read_end', 'verdict', 'upstream_event',
    'reconciliation_run', 'reconciliation_run_end', 'finding', 'finding_sight', 'finding_step']
$$;

-- Returns the tables with one partition for each month.
CREATE FUNCTION monthly_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[
    'intent', 'outcome', 'refusal',
    'intent_body', 'outcome_body', 'refusal_key',
    'upstream_transaction', 'reconciliation_match']
$$;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'records are only added to: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

-- Returns the smallest UUID of an instant: 48 bits of milliseconds (RFC 9562, section 5.7), then zeros.
CREATE FUNCTION uuid_floor(at timestamptz) RETURNS uuid LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Creates one partition of one table. A partition inherits row triggers from its parent, but no TRUNCATE
-- trigger. The function waits only briefly for its lock on the default partition, because writers of records
-- would wait behind it.
CREATE FUNCTION make_partition(parent text, name text, bounds text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
BEGIN
  EXECUTE format('CREATE TABLE public.%I PARTITION OF public.%I %s', name, parent, bounds);
  IF parent = ANY (public.append_only_tables()) THEN
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.%I EXECUTE FUNCTION public.refuse_change()', name);
  END IF;
END
$$;

-- Creates the partitions of this month and of future months. The proxy calls it at each start and every day.
CREATE FUNCTION make_partitions(months_ahead integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public SET timezone = 'UTC' AS $$
DECLARE
  parent text;
  month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7070001); -- Several instances may start together.
  FOREACH parent IN ARRAY public.monthly_tables() LOOP
    FOR ahead IN 0..months_ahead LOOP
      month := date_trunc('month', now(), 'UTC') + make_interval(months => ahead);
      name := parent || to_char(month AT TIME ZONE 'UTC', '_YYYY_MM');
      CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
      BEGIN
        PERFORM public.make_partition(parent, name, format('FOR VALUES FROM (%L) TO (%L)',
          public.uuid_floor(month), public.uuid_floor(month + interval '1 month')));
      EXCEPTION
        WHEN check_violation THEN
          RAISE WARNING 'rows of % stand in the default partition and stay there', name; -- They are not lost.
        WHEN lock_not_available THEN
          RAISE WARNING 'a long query keeps % from being made; tomorrow is early enough', name;
      END;
    END LOOP;
  END LOOP;
END
$$;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY append_only_tables() LOOP
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', name);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', name);
  END LOOP;
  -- A row whose month has no partition goes to the default partition, so it is never lost.
  FOREACH name IN ARRAY monthly_tables() LOOP
    PERFORM make_partition(name, name || '_default', 'DEFAULT');
  END LOOP;
END
$$;

SELECT make_partitions(1);

-- Views for auditors ----------------------------------------------------------------------------------------
-- payout_auditor reads these views and nothing else. They show the records, with people masked as GET
-- /v1/audit shows them without audit:pii. No view has a body, an unmasked recipient, a key or a salt.
-- docs/auditors/people-and-retention.md shows how to create a person's login.

CREATE SCHEMA audit;

-- These functions mask as src/platform/privacy/contacts.ts does. A test compares the two.
CREATE FUNCTION audit.mask_email(email text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(email, '@') > 2 THEN left(email, 1) ELSE '' END || '••@' || substring(email FROM '[^@]*$')
$$;

CREATE FUNCTION audit.mask_phone(phone text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT left(phone, 4) || '••••' || substr(phone, greatest(8, length(phone) - 4) + 1)
$$;

CREATE FUNCTION audit.mask_handle(handle text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT left(handle, CASE WHEN length(handle) > 3 THEN 2 ELSE 1 END) || '••'
$$;

CREATE FUNCTION audit.mask_contacts(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  -- White space in ECMAScript.
  blank CONSTANT text := '\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  pattern CONSTANT text := '(?:[^' || blank || '"''<>()[\],;:@/=]{1,64}@[^' || blank || '"''<>()[\],;:@]{1,255}'
    || '|\+[0-9](?:[' || blank || '().-]?[0-9]){6,14}'
    || '|(?<![A-Za-z0-9_.])@[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})';
  between text[];
  contact text;
  masked text := '';
  place integer := 0;
  after integer := 1;
BEGIN
  IF strpos(value, '@') = 0 AND strpos(value, '+') = 0 THEN
    RETURN value;
  END IF;
  between := regexp_split_to_array(value, pattern);
  FOR contact IN SELECT match[1] FROM regexp_matches(value, '(' || pattern || ')', 'g') AS match LOOP
    place := place + 1;
    after := after + length(between[place]) + length(contact);
    masked := masked || between[place] || CASE
      -- Already masked.
      WHEN strpos(contact, '••@') > 0 OR (length(contact) = 2 AND substr(value, after, 2) = '••') THEN contact
      WHEN left(contact, 1) = '+' AND strpos(contact, '@') = 0 THEN audit.mask_phone(contact)
      WHEN left(contact, 1) = '@' THEN audit.mask_handle(contact)
      ELSE audit.mask_email(contact) END;
  END LOOP;
  RETURN masked || between[place + 1];
END
$$;

CREATE FUNCTION audit.mask_prose(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT regexp_replace(audit.mask_contacts(value), '(?<![A-Za-z0-9_.+-])[0-9]{7,15}(?![A-Za-z0-9_-])', '••••', 'g')
$$;

-- Masks a query, which its record masks too. Hides an escaped @ or + that the record does not mask.
CREATE FUNCTION audit.mask_query(query text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN query ~* '%(40|2b)' AND query !~* '%e2%80%a2' THEN '••••' ELSE audit.mask_contacts(query) END
$$;

CREATE VIEW audit.clients AS SELECT id, name, scopes, created_at, account FROM public.client;

CREATE VIEW audit.calls AS
  SELECT i.id, i.client_id, r.key_id, i.operation, audit.mask_contacts(r.request_id) AS request_id, r.traceparent,
    r.client_address, audit.mask_query(r.query) AS query, i.item_count, i.total_usd, r.coverage, r.caused_by,
    audit.mask_contacts(CASE WHEN b.idempotency_key_salt IS NOT NULL THEN b.idempotency_key END) AS idempotency_key,
    audit.mask_contacts(p.name) AS actor, i.held_for,
    i.expires_at, i.reserved_on, i.process, decode(r.body_commitment, 'hex') AS body_commitment,
    decode(r.recipients_commitment, 'hex') AS recipients_commitment, r.received_at,
    i.recorded_at, r.duplicate_of, i.expected_fee_usd,
    decode(r.idempotency_key_commitment, 'hex') AS idempotency_key_commitment, r.actor_source, i.person_id,
    decode(r.actor_commitment, 'hex') AS actor_commitment, i.ephemeral_key_id
  FROM public.intent i LEFT JOIN public.intent_body b ON b.intent_id = i.id CROSS JOIN LATERAL json_to_record(i.record::json) AS r(
    key_id uuid, request_id text, traceparent text, client_address text, query text, coverage text, caused_by uuid,
    idempotency_key_commitment text, actor_source text, actor_commitment text, body_commitment text, recipients_commitment text,
    received_at timestamptz, duplicate_of uuid)
  LEFT JOIN public.person p ON p.id = i.person_id AND is_committed(p.salt, p.name, decode(r.actor_commitment, 'hex'));

CREATE VIEW audit.items AS
  SELECT i.intent_id AS call_id, i.position, i.recipient_field, i.handle_ignored, audit.mask_email(p.email) AS email,
    audit.mask_phone(p.phone) AS phone, audit.mask_handle(p.handle) AS handle, i.amount_usd,
    audit.mask_contacts(i.country) AS country, audit.mask_contacts(i.network_code) AS network_code,
    audit.mask_contacts(i.reference) AS reference, audit.mask_contacts(i.receiver) AS receiver,
    audit.mask_contacts(i.wallet) AS wallet, audit.mask_contacts(i.upstream_ref) AS upstream_ref
  FROM public.intent_item i LEFT JOIN public.item_recipient p ON p.intent_id = i.intent_id AND p.position = i.position;

CREATE VIEW audit.outcomes AS
  SELECT o.intent_id AS call_id, o.kind, r.failure, o.upstream_status, audit.mask_contacts(r.content_type) AS content_type,
    r.retry_after, decode(r.body_commitment, 'hex') AS body_commitment, r.attempts, coalesce(r.tries, '[]') AS tries,
    r.answer_of, o.sent_at, o.answered_at, r.upstream_ms, o.recorded_at, coalesce(r.undelivered, FALSE) AS undelivered
  FROM public.outcome o CROSS JOIN LATERAL json_to_record(o.record::json) AS r(
    failure text, content_type text, retry_after integer, body_commitment text, attempts integer, tries json,
    answer_of uuid, upstream_ms numeric, undelivered boolean);

CREATE VIEW audit.upstream_items AS
  SELECT intent_id AS call_id, ordinal, position, audit.mask_contacts(upstream_ref) AS upstream_ref,
    audit.mask_contacts(upstream_id) AS upstream_id, audit.mask_contacts(batch_ref) AS batch_ref,
    audit.mask_prose(status) AS status, amount_usd, differs
  FROM public.outcome_item;

CREATE VIEW audit.refusals AS
  SELECT r.id AS call_id, r.client_id, key_id, operation, audit.mask_contacts(request_id) AS request_id, traceparent,
    client_address, status, code, audit.mask_contacts(detail) AS detail, audit.mask_contacts(faults::text) AS faults,
    fault_count, audit.mask_contacts(CASE WHEN k.salt IS NOT NULL THEN k.key END) AS idempotency_key,
    audit.mask_contacts(p.name) AS actor, first_call_id,
    received_at, recorded_at, idempotency_key_commitment, actor_source, person_id, actor_commitment, ephemeral_key_id
  FROM public.refusal r LEFT JOIN public.refusal_key k ON k.refusal_id = r.id
  LEFT JOIN public.person p ON p.id = r.person_id AND is_committed(p.salt, p.name, r.actor_commitment);

CREATE VIEW audit.decisions AS
  SELECT intent_id AS call_id, kind, audit.mask_prose(reason) AS reason, body_commitment, client_id, key_id,
    audit.mask_contacts(actor) AS actor, decided_at, reserved_on
  FROM public.decision;

-- The ledger of each payout, entry by entry. Each moves the amount from one account to another.
CREATE VIEW audit.settlement_entries AS
  SELECT call_id, position, number, entry, from_account, to_account, amount_usd, source, recorded_at FROM public.ledger_entry;

CREATE VIEW audit.settlements AS
  SELECT s.id, s.intent_id AS call_id, s.number, s.resolution, s.counted_usd, r.source, audit.mask_prose(r.reason) AS reason,
    r.client_id, r.key_id, audit.mask_contacts(r.actor) AS actor, s.recorded_at,
    coalesce(r.undelivered, FALSE) AS undelivered
  FROM public.settlement s CROSS JOIN LATERAL json_to_record(s.record::json) AS r(
    source text, reason text, client_id uuid, key_id uuid, actor text, undelivered boolean);

CREATE VIEW audit.stops AS
  SELECT s.id, s.stops_client_id, s.stops_operation, audit.mask_prose(s.reason) AS reason, s.client_id, s.key_id,
    audit.mask_contacts(s.actor) AS actor, s.stopped_at, l.client_id AS lifted_by_client_id, l.key_id AS lifted_by_key_id,
    audit.mask_contacts(l.actor) AS lifted_by_actor, l.lifted_at
  FROM public.stop s LEFT JOIN public.stop_lift l ON l.stop_id = s.id;

CREATE VIEW audit.activities AS
  SELECT id, action, target_client_id, target_client, target_key_id, audit.mask_contacts(before) AS before,
    audit.mask_contacts(after) AS after, via, client_id, key_id, audit.mask_contacts(actor) AS actor, client_address,
    audit.mask_contacts(request_id) AS request_id, call_id, audit.mask_prose(reason) AS reason, acted_at
  FROM public.activity;

CREATE VIEW audit.answer_shapes AS
  SELECT id, operation, http_status, fingerprint, shape, first_call_id, first_seen_at FROM public.answer_shape;

CREATE VIEW audit.accesses AS
  SELECT a.id, a.client_id, a.key_id, audit.mask_contacts(a.actor) AS actor, a.route, a.call_id, a.call_ids, a.filters,
    a.filters_commitment, a.revealed, coalesce(e.rows, a.rows) AS rows, audit.mask_contacts(a.request_id) AS request_id,
    a.client_address, a.read_at, e.complete, e.sha256, e.checkpoint_size, e.ended_at
  FROM public.access a LEFT JOIN public.access_end e ON e.access_id = a.id;

CREATE VIEW audit.erasures AS
  SELECT id, kind, audit.mask_prose(reason) AS reason, actor, places, erased_at, signature FROM public.erasure;

CREATE VIEW audit.prunings AS
  SELECT id, what, month, audit.mask_prose(reason) AS reason, actor, kept, rows, checkpoint, pruned_at, signature
  FROM public.pruning;

CREATE VIEW audit.checkpoints AS SELECT size, root, note, sealed_at, complete_until FROM public.checkpoint;

CREATE VIEW audit.leaves AS
  SELECT l.first + n.place - 1 AS index, l.kind, n.record_id, substring(l.hashes FROM n.place::integer * 32 - 31 FOR 32) AS hash
  FROM public.log_leaves l CROSS JOIN LATERAL unnest(l.ids) WITH ORDINALITY n(record_id, place);

CREATE VIEW audit.source_reads AS
  SELECT r.id, r.source, audit.mask_contacts(r.subject) AS subject, r.from_at, r.to_at, r.caused_by, r.client_id, r.key_id,
    audit.mask_contacts(r.actor) AS actor, r.read_at, e.complete, e.failure, e.http_status, e.bytes, e.sha256, e.rows, e.kept,
    e.faults, e.ended_at, coalesce(r.account, 'main') AS account
  FROM public.source_read r LEFT JOIN public.source_read_end e ON e.read_id = r.id;

CREATE VIEW audit.upstream_transactions AS
  SELECT read_id, ordinal, audit.mask_contacts(upstream_ref) AS upstream_ref, audit.mask_contacts(upstream_id) AS upstream_id,
    audit.mask_contacts(batch_ref) AS batch_ref, issued_at, audit.mask_prose(type) AS type, audit.mask_prose(status) AS status,
    amount_usd, fee_usd, audit.mask_email(email) AS email, audit.mask_phone(phone) AS phone, audit.mask_handle(handle) AS handle,
    audit.mask_contacts(receiver) AS receiver, audit.mask_contacts(country) AS country,
    audit.mask_contacts(network_code) AS network_code, audit.mask_prose(reference) AS reference
  FROM public.upstream_transaction;

CREATE VIEW audit.verdicts AS
  SELECT id, intent_id AS call_id, verdict, reason, evidence, decided_at FROM public.verdict;

CREATE VIEW audit.upstream_events AS
  SELECT id, event_id, event_type, batch_ref, upstream_id, upstream_ref, status, amount_usd, signed_at, received_at,
    coalesce(account, 'main') AS account
  FROM public.upstream_event;

CREATE VIEW audit.reconciliation_runs AS
  SELECT r.id, r.from_at, r.to_at, r.as_of, r.historical, r.settings, r.due_at, r.client_id, r.key_id,
    audit.mask_contacts(r.actor) AS actor, r.started_at, e.result, e.failure, coalesce(e.read_id, r.read_id) AS read_id,
    e.totals, e.ended_at, coalesce(r.account, 'main') AS account
  FROM public.reconciliation_run r LEFT JOIN public.reconciliation_run_end e ON e.run_id = r.id;

CREATE VIEW audit.findings AS
  SELECT id, category, subject, call_id, position, upstream_ref, upstream_id, batch_ref, wallet_id, occurred_at, run_id, found_at,
    coalesce(account, 'main') AS account
  FROM public.finding;

CREATE VIEW audit.finding_sights AS
  SELECT id, finding_id, run_id, impact_usd, fields, evidence, seen_at FROM public.finding_sight;

CREATE VIEW audit.finding_steps AS
  SELECT id, finding_id, state, audit.mask_prose(reason) AS reason, impact_usd, run_id, client_id, key_id,
    audit.mask_contacts(actor) AS actor, decided_at
  FROM public.finding_step;

-- Rights ----------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION make_partitions(integer), make_partition(text, text, text), reindex_calls(uuid[], boolean), insert_entries(uuid[], uuid[]),
  index_calls(integer), summarize_names(), calls_named(text, text[], integer, uuid, uuid), drop_search_indexes(), build_search_indexes(), search_progress(), rebuild_search_index(), search_is_complete(),
  keep_space_reserve(bigint), release_space_reserve() FROM PUBLIC;

GRANT USAGE ON SCHEMA public TO payout_proxy;
GRANT EXECUTE ON FUNCTION make_partitions(integer), index_calls(integer), build_search_indexes(), search_progress(),
  search_is_complete(), calls_named(text, text[], integer, uuid, uuid), keep_space_reserve(bigint), release_space_reserve()
  TO payout_proxy;
GRANT SELECT, INSERT, UPDATE ON client, api_key, person, ephemeral_key, pending_change, instance, process, epoch TO payout_proxy;
GRANT SELECT, INSERT, DELETE ON beneficiary, person_identity, used_token TO payout_proxy;
GRANT SELECT, INSERT, UPDATE, DELETE ON console_session, page_session TO payout_proxy;
-- Records.
GRANT SELECT ON intent_item, item_recipient, outcome_item TO payout_proxy;
GRANT SELECT, INSERT ON intent, outcome, refusal, answer_shape, decision, settlement, stop, stop_lift, activity, access, access_end, source_read,
  source_read_end, verdict, upstream_event, reconciliation_run, reconciliation_run_end, finding, finding_sight, finding_step
  TO payout_proxy;
GRANT SELECT ON erasure, pruning, log_leaves, log_node, checkpoint TO payout_proxy;
GRANT SELECT ON current_settlement, ledger_entry, call_state TO payout_proxy;
-- Erasable data and sources.
GRANT SELECT, INSERT ON intent_body, outcome_body, refusal_key, access_filters, upstream_transaction, upstream_wallet,
  upstream_wallet_entry, statement_fault TO payout_proxy;
-- Work.
GRANT SELECT, INSERT, UPDATE ON idempotency_claim, spending, payer_spending, request_window, reconciliation_progress, unheard_status
  TO payout_proxy;
GRANT SELECT, INSERT, UPDATE ON book_transaction, book_contradiction TO payout_proxy;
GRANT SELECT, INSERT, DELETE ON recent_content, recipient_payment, unexplained_payment TO payout_proxy;
GRANT SELECT, INSERT, UPDATE, DELETE ON queued_call TO payout_proxy; -- UPDATE locks rows
GRANT SELECT ON payer_cap TO payout_proxy;
GRANT SELECT, INSERT ON reconciliation_match TO payout_proxy;
GRANT SELECT ON indexed_call, indexed_item, indexed_name, indexed_slice TO payout_proxy;
GRANT SELECT, INSERT, UPDATE, DELETE ON call_fee, worker_task TO payout_proxy;
-- The migrations, to tell whether the database is up to date.
GRANT SELECT ON _prisma_migrations, migration_compatibility TO payout_proxy;
-- A reconciliation run sorts and joins in temporary tables of its session.
DO $$
BEGIN
  EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO payout_proxy', current_database());
END
$$;

GRANT USAGE ON SCHEMA public TO payout_sealer;
GRANT SELECT ON intent, outcome, refusal, answer_shape, decision, settlement, stop, stop_lift, activity, access, access_end, erasure, pruning, source_read,
  source_read_end, verdict, upstream_event, reconciliation_run, reconciliation_run_end, finding, finding_sight, finding_step
  TO payout_sealer;
GRANT SELECT, INSERT ON log_leaves, log_node, checkpoint TO payout_sealer;
GRANT SELECT ON epoch TO payout_sealer; -- which drops its knowledge of the epoch before

GRANT USAGE ON SCHEMA audit TO payout_auditor;
GRANT SELECT ON ALL TABLES IN SCHEMA audit TO payout_auditor;
