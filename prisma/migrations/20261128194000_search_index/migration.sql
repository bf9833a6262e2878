-- The search index has the canonical form of each country, and what became of each payout that is not as usual.

INSERT INTO migration_compatibility VALUES ('20261128194000_search_index', '20261124000000_init');

-- Returns a key for a country's name: its letters and digits without accents, in lower case (normalise of src/recipients/country-name.ts).
CREATE FUNCTION country_key(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(nullif(lower(regexp_replace(normalize(name, NFKD),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u02b0-\u036f\u2000-\u206f\u3000-\u303f\ufe00-\ufe0f\ufeff]', '', 'g') COLLATE "C"), ''), name)
$$;

-- Returns the canonical form of a country: its code (ISO 3166-1 alpha-2), or the key of a name that is not known (canonicalCountry of
-- src/recipients/country-name.ts, whose test compares the two). PL/pgSQL reads the table of names once for each session.
CREATE FUNCTION canonical_country(name text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  names CONSTANT jsonb NOT NULL := '{
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
  }';
  key CONSTANT text NOT NULL := country_key(name);
BEGIN
  RETURN coalesce(names ->> key, names ->> regexp_replace(key, '^the|the$', ''), key);
END
$$;

-- Returns the entry of all payouts of a call in this state, unless their records say otherwise (usualEntry of src/operations/lifecycle/sums.ts).
CREATE FUNCTION usual_entry(state text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN state IN ('succeeded', 'confirmed') THEN 'paid' WHEN state IN ('unknown', 'in_progress', 'pending_approval') THEN 'reserved'
    ELSE 'not_executed' END
$$;

-- Returns the payouts of a call whose last entry is not the usual one. Almost no call has one. It replaces unusual_entries(), which
-- only instances of the release before use.
--   answered, items   the members of the documents
CREATE FUNCTION last_entries(call uuid, answered json, items json, usual text) RETURNS TABLE (pos integer, entry text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT last.pos, last.entry FROM (
    SELECT DISTINCT ON (e.pos) e.pos, e.entry FROM (
      SELECT n - 1 AS pos, CASE json_typeof(answered) WHEN 'string' THEN answered #>> '{}' ELSE answered ->> (n - 1) END AS entry,
        0 AS number
      FROM generate_series(1, json_array_length(items)) AS n
      WHERE answered IS NOT NULL AND (json_typeof(answered) = 'array' OR answered #>> '{}' IS DISTINCT FROM usual)
      UNION ALL
      SELECT t.position, t.entry, s.number FROM settlement s
      CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS t(position integer, entry text)
      WHERE s.intent_id = call AND t.entry <> 'fee'
    ) AS e ORDER BY e.pos, e.number DESC
  ) AS last WHERE last.entry IS DISTINCT FROM usual
$$;

-- item_entry: the last entry of each payout that is not the usual one; null: all are
-- item_fee_usd: the fee of each payout, less what was given back; null: none has one
ALTER TABLE search_entry ADD COLUMN item_entry text[], ADD COLUMN item_fee_usd numeric[];
CREATE OR REPLACE VIEW indexed_call AS SELECT * FROM search_entry WHERE (SELECT search_is_complete());

-- The terms of a payout are in a fixed order, so that equal records have equal entries and can be verified.
CREATE OR REPLACE VIEW call_entry AS
  SELECT c.call_id, c.client_id, c.operation, c.state, c.process, c.released_at, c.expires_at, c.repeats, c.total_usd, c.upstream_ms, c.counted_usd,
    coalesce(p.item_usd, '{}') AS item_usd, p.payouts,
    string_to_array(concat(
      'week:', search_week(c.call_id), E'\nhour:', search_hour(c.call_id), E'\ntotal:', search_step(c.total_usd),
      E'\nclient:', c.client_id, E'\nkey:', r.key_id, E'\nstate:', c.state, E'\napproval:' || c.approval,
      search_term(E'\noperation', c.operation), search_term(E'\nactor', coalesce(who.name, r.actor)), E'\nperson:' || r.person_id, E'\nsource:' || r.actor_source,
      search_term(E'\nidempotency', coalesce(r.idempotency_key, b.idempotency_key)), search_term(E'\nrequest', r.request_id),
      search_term(E'\naddress', r.client_address), array_to_string(p.payouts, '')), E'\n') AS terms,
    p.item_entry, p.item_fee_usd
  FROM call_state c
  LEFT JOIN intent_body b ON b.intent_id = c.call_id
  CROSS JOIN LATERAL json_to_record(c.request) AS r(
    key_id text, actor text, actor_source text, actor_commitment text, person_id uuid, idempotency_key text, request_id text, client_address text, items json)
  LEFT JOIN person who ON who.id = r.person_id AND is_committed(who.salt, who.name, decode(r.actor_commitment, 'hex'))
  CROSS JOIN LATERAL (
    SELECT array_agg(usd ORDER BY place) FILTER (WHERE place > 0) AS item_usd, array_agg(terms ORDER BY place) AS payouts,
      CASE WHEN count(entry) > 0 THEN array_agg(entry ORDER BY place) FILTER (WHERE place > 0) END AS item_entry,
      CASE WHEN count(fee) > 0 THEN array_agg(fee ORDER BY place) FILTER (WHERE place > 0) END AS item_fee_usd
    FROM (
      SELECT place, max(usd) AS usd, string_agg(terms, '' ORDER BY terms COLLATE "C") AS terms, max(entry) AS entry, sum(fee) AS fee FROM (
        SELECT 0 AS place, NULL::numeric AS usd, '' AS terms, NULL::text AS entry, NULL::numeric AS fee
        UNION ALL
        SELECT n.place, n.amount_usd, concat(
          E'\nitem:' || search_step(n.amount_usd), search_term(E'\ncountry', canonical_country(n.country)),
          search_term(E'\nnetwork', n.network_code), search_term(E'\nreference', n.reference),
          search_term(E'\nref', n.upstream_ref), search_term(E'\nreceiver', n.receiver), search_beginnings(lower(n.receiver))), NULL, NULL
        FROM ROWS FROM (json_to_recordset(r.items) AS (
          amount_usd numeric, country text, network_code text, reference text, upstream_ref text, receiver text
        )) WITH ORDINALITY AS n(amount_usd, country, network_code, reference, upstream_ref, receiver, place)
        UNION ALL
        SELECT n.position + 1, NULL, concat(
          search_term(E'\nto', n.email), search_term(E'\nto', n.phone),
          search_term(E'\nto', n.handle),
          search_beginnings(n.email), search_beginnings(n.phone), search_beginnings(n.handle)), NULL, NULL
        FROM json_to_recordset(lower(b.people)::json) AS n(position integer, email text, phone text, handle text)
        UNION ALL
        SELECT coalesce(n.position, -1) + 1, NULL, concat(search_term(E'\nref', n.upstream_ref),
          search_term(E'\nref', n.upstream_id), search_term(E'\nref', n.batch_ref)), NULL, CASE WHEN n.position IS NOT NULL THEN n.fee_usd END
        FROM json_to_recordset(c.answer -> 'items') AS n(
          position integer, upstream_ref text, upstream_id text, batch_ref text, fee_usd numeric)
        UNION ALL
        SELECT n.position + 1, NULL, concat(search_term(E'\nref', n.upstream_ref),
          search_term(E'\nref', n.upstream_id), search_term(E'\nref', n.batch_ref)), NULL,
          CASE WHEN n.entry = 'fee' THEN CASE n."to" WHEN 'fees' THEN n.amount_usd ELSE -n.amount_usd END END
        FROM settlement s CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS n(
          position integer, upstream_ref text, upstream_id text, batch_ref text, entry text, "to" text, amount_usd numeric)
        WHERE s.intent_id = c.call_id
        UNION ALL
        SELECT e.pos + 1, NULL, E'\nentry:' || e.entry, e.entry, NULL FROM last_entries(c.call_id, c.answer -> 'entries', r.items, usual_entry(c.state)) AS e
      ) AS lines GROUP BY place
    ) AS places
  ) AS p;

-- A worker makes all entries anew. Searches fail until it has.
DO $$
BEGIN
  IF EXISTS (SELECT FROM intent) OR EXISTS (SELECT FROM refusal) THEN
    TRUNCATE search_entry, search_item, search_slice, search_position;
  END IF;
END
$$;
