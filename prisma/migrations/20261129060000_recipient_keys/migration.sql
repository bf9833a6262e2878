-- One canonical key for each recipient, however its name is written (src/recipients/recipient.ts).

INSERT INTO migration_compatibility VALUES ('20261129060000_recipient_keys', '20261124000000_init');

-- Returns the characters that a reader sees in a name, each in one form (plainText of src/recipients/plain-text.ts).
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

-- Returns text with each capital in lower case, in any locale of the database (smallLetters of src/recipients/plain-text.ts).
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

-- Returns the canonical key of a phone number (phoneKey of src/recipients/recipient.ts, with the table of numbering-plan.ts).
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

-- Returns the canonical key of a recipient's name: an email, phone, handle or receiver (recipientKey of src/recipients/recipient.ts).
-- It is inlined, and names that are canonical at first sight cost one comparison. Counted repetitions would take ten times as long.
CREATE FUNCTION recipient_key(kind text, name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE kind
    WHEN 'email' THEN CASE WHEN name ~ '^[a-z0-9._+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+$' THEN name ELSE email_key(name) END
    WHEN 'phone' THEN CASE WHEN name ~ '^\+2(?:1[0-9]|2[0-8]|[3-689][0-9])[1-9][0-9]+$' AND length(name) BETWEEN 8 AND 25 THEN name
      ELSE phone_key(name) END
    WHEN 'handle' THEN CASE WHEN name ~ '^@[a-z0-9_][a-z0-9_.-]*$' AND length(name) <= 65 THEN name ELSE handle_key(name) END
    WHEN 'receiver' THEN CASE WHEN name ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$' THEN name ELSE receiver_key(name) END
  END
$$;
