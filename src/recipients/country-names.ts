import type { CountryCode } from 'libphonenumber-js/max';

/** Alpha-3 codes by alpha-2 codes (ISO 3166-1). XK and XKX, for Kosovo, are user-assigned. */
export const ALPHA_3_CODES = `
  AD:AND AE:ARE AF:AFG AG:ATG AI:AIA AL:ALB AM:ARM AO:AGO AQ:ATA AR:ARG AS:ASM AT:AUT AU:AUS AW:ABW AX:ALA
  AZ:AZE BA:BIH BB:BRB BD:BGD BE:BEL BF:BFA BG:BGR BH:BHR BI:BDI BJ:BEN BL:BLM BM:BMU BN:BRN BO:BOL BQ:BES
  BR:BRA BS:BHS BT:BTN BV:BVT BW:BWA BY:BLR BZ:BLZ CA:CAN CC:CCK CD:COD CF:CAF CG:COG CH:CHE CI:CIV CK:COK
  CL:CHL CM:CMR CN:CHN CO:COL CR:CRI CU:CUB CV:CPV CW:CUW CX:CXR CY:CYP CZ:CZE DE:DEU DJ:DJI DK:DNK DM:DMA
  DO:DOM DZ:DZA EC:ECU EE:EST EG:EGY EH:ESH ER:ERI ES:ESP ET:ETH FI:FIN FJ:FJI FK:FLK FM:FSM FO:FRO FR:FRA
  GA:GAB GB:GBR GD:GRD GE:GEO GF:GUF GG:GGY GH:GHA GI:GIB GL:GRL GM:GMB GN:GIN GP:GLP GQ:GNQ GR:GRC GS:SGS
  GT:GTM GU:GUM GW:GNB GY:GUY HK:HKG HM:HMD HN:HND HR:HRV HT:HTI HU:HUN ID:IDN IE:IRL IL:ISR IM:IMN IN:IND
  IO:IOT IQ:IRQ IR:IRN IS:ISL IT:ITA JE:JEY JM:JAM JO:JOR JP:JPN KE:KEN KG:KGZ KH:KHM KI:KIR KM:COM KN:KNA
  KP:PRK KR:KOR KW:KWT KY:CYM KZ:KAZ LA:LAO LB:LBN LC:LCA LI:LIE LK:LKA LR:LBR LS:LSO LT:LTU LU:LUX LV:LVA
  LY:LBY MA:MAR MC:MCO MD:MDA ME:MNE MF:MAF MG:MDG MH:MHL MK:MKD ML:MLI MM:MMR MN:MNG MO:MAC MP:MNP MQ:MTQ
  MR:MRT MS:MSR MT:MLT MU:MUS MV:MDV MW:MWI MX:MEX MY:MYS MZ:MOZ NA:NAM NC:NCL NE:NER NF:NFK NG:NGA NI:NIC
  NL:NLD NO:NOR NP:NPL NR:NRU NU:NIU NZ:NZL OM:OMN PA:PAN PE:PER PF:PYF PG:PNG PH:PHL PK:PAK PL:POL PM:SPM
  PN:PCN PR:PRI PS:PSE PT:PRT PW:PLW PY:PRY QA:QAT RE:REU RO:ROU RS:SRB RU:RUS RW:RWA SA:SAU SB:SLB SC:SYC
  SD:SDN SE:SWE SG:SGP SH:SHN SI:SVN SJ:SJM SK:SVK SL:SLE SM:SMR SN:SEN SO:SOM SR:SUR SS:SSD ST:STP SV:SLV
  SX:SXM SY:SYR SZ:SWZ TC:TCA TD:TCD TF:ATF TG:TGO TH:THA TJ:TJK TK:TKL TL:TLS TM:TKM TN:TUN TO:TON TR:TUR
  TT:TTO TV:TUV TW:TWN TZ:TZA UA:UKR UG:UGA UM:UMI US:USA UY:URY UZ:UZB VA:VAT VC:VCT VE:VEN VG:VGB VI:VIR
  VN:VNM VU:VUT WF:WLF WS:WSM XK:XKX YE:YEM YT:MYT ZA:ZAF ZM:ZMB ZW:ZWE`;

/**
 * Other names of countries: former names, short names, and those of ISO 3166-1, the United Nations and the
 * World Bank. Excludes the names of the Unicode CLDR.
 */
export const OTHER_NAMES: Readonly<Partial<Record<CountryCode, readonly string[]>>> = {
  AE: ['UAE'],
  BN: ['Brunei Darussalam'],
  BO: ['Bolivia, Plurinational State of'],
  CD: [
    'Democratic Republic of the Congo',
    'Democratic Republic of Congo',
    'Congo, Democratic Republic of the',
    'Congo, The Democratic Republic of the',
    'Congo, Democratic Republic',
    'Congo (Democratic Republic)',
    'Congo DRC',
    'DR Congo',
    'DRC',
    'Zaire',
    'Congo, Dem. Rep.',
    'Dem. Rep. of the Congo',
  ],
  CG: ['Congo', 'Republic of the Congo', 'Congo Republic', 'Congo, Republic of the', 'Congo, Rep.'],
  CI: ['Ivory Coast', "Republic of Côte d'Ivoire"],
  CV: ['Cape Verde', 'Cabo Verde'],
  CZ: ['Czechia', 'Czech Republic'],
  FM: ['Micronesia, Federated States of', 'Micronesia, Fed. Sts.'],
  GB: ['Great Britain', 'United Kingdom of Great Britain and Northern Ireland'],
  GM: ['The Gambia', 'Republic of The Gambia'],
  IR: ['Iran, Islamic Republic of', 'Iran, Islamic Rep.'],
  KP: ["Korea, Democratic People's Republic of", "Korea, Dem. People's Rep.", 'North Korea'],
  KR: ['Korea', 'Republic of Korea', 'Korea, Republic of', 'Korea, Rep.', 'South Korea'],
  LA: ["Lao People's Democratic Republic", 'Lao PDR'],
  MD: ['Moldova, Republic of', 'Republic of Moldova'],
  MK: ['Macedonia'],
  MM: ['Burma'],
  MO: ['Macau', 'Macao', 'Macao SAR, China'],
  PS: ['Palestine, State of', 'State of Palestine', 'West Bank and Gaza', 'Palestine'],
  RU: ['Russian Federation'],
  SY: ['Syrian Arab Republic'],
  SZ: ['Eswatini', 'Swaziland', 'Eswatini (Swaziland)'],
  TL: ['East Timor'],
  TR: ['Turkey', 'Türkiye'],
  TW: ['Taiwan, Province of China'],
  TZ: ['United Republic of Tanzania', 'Tanzania, United Republic of', 'United Rep. of Tanzania'],
  US: ['USA', 'United States of America'],
  VA: ['Holy See'],
  VE: ['Venezuela, Bolivarian Republic of', 'Venezuela, RB'],
  VN: ['Viet Nam'],
  EG: ['Egypt, Arab Rep.', 'Arab Republic of Egypt'],
  HK: ['Hong Kong', 'Hong Kong SAR, China'],
  KG: ['Kyrgyz Republic'],
  SK: ['Slovak Republic'],
  SO: ['Somalia, Fed. Rep.', 'Federal Republic of Somalia'],
  SX: ['Sint Maarten (Dutch part)'],
  MF: ['St. Martin (French part)'],
  VI: ['Virgin Islands (U.S.)'],
  VG: ['Virgin Islands (British)'],
  YE: ['Yemen, Rep.', 'Republic of Yemen'],
  KE: ['Republic of Kenya'],
  UG: ['Republic of Uganda'],
  RW: ['Republic of Rwanda'],
  GH: ['Republic of Ghana'],
  ZM: ['Republic of Zambia'],
  ZW: ['Republic of Zimbabwe'],
  MW: ['Republic of Malawi'],
  SN: ['Republic of Senegal'],
  BJ: ['Republic of Benin'],
  CM: ['Republic of Cameroon'],
  SL: ['Republic of Sierra Leone'],
  LR: ['Republic of Liberia'],
  ZA: ['Republic of South Africa'],
  BW: ['Republic of Botswana'],
  NA: ['Republic of Namibia'],
  MZ: ['Republic of Mozambique'],
  AO: ['Republic of Angola'],
  TD: ['Republic of Chad'],
  ML: ['Republic of Mali'],
  NE: ['Republic of Niger'],
  GN: ['Republic of Guinea'],
  GW: ['Republic of Guinea-Bissau'],
  MG: ['Republic of Madagascar'],
  BI: ['Republic of Burundi'],
  SS: ['Republic of South Sudan'],
  NG: ['Federal Republic of Nigeria'],
  ET: ['Federal Democratic Republic of Ethiopia'],
};
