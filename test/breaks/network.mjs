/** The guards of the network and of the settings for it. See guards.mjs. */

export const NETWORK = [
  {
    name: 'two-readings',
    guards: 'a value in .env that another program reads in another way',
    edits: [['src/platform/config/environment/env-file.ts', 'const UNQUOTED = /^[^#$', 'const UNQUOTED = /^[^$']],
    noticedBy: 'src/platform/config/environment/env-file.spec.ts',
  },
  {
    name: 'ignored-parameter',
    guards: 'a parameter of a database address that nothing obeys',
    edits: [
      [
        'src/platform/config/database/database-url.ts',
        'faults.push(...parameterFaults(given));',
        'parameterFaults(given);',
      ],
    ],
    noticedBy: 'src/platform/config/database/database-url.spec.ts',
  },
  {
    name: 'secret-without-base64',
    guards: 'a webhook secret with anything but base64 after whsec_',
    edits: [
      [
        'src/platform/config/secrets/webhook-key.ts',
        'return encoded !== ',
        'return encoded.length > 0 || encoded !== ',
      ],
    ],
    noticedBy: 'src/platform/config/environment/production.spec.ts',
  },
  {
    name: 'long-reference',
    guards: 'two payouts whose references differ in digits that a double loses',
    edits: [['src/platform/json/exact-json.ts', 'if (!MAY_HAVE_ONE.test(text)) return value;', 'return value;']],
    noticedBy: 'src/gateway/upstream/answers/transactions.spec.ts',
    test: 'reads a chiRef that is a number as its digits, also those that a double cannot hold',
  },
  {
    name: 'half-sent-heads',
    guards: 'payments during a flood of connections whose requests are half sent',
    edits: [['src/http/connections/incomplete.ts', 'own.size > perNetwork', 'own.size > perNetwork * 1e9']],
    noticedBy: 'test/continuity/failover/half-sent.full.spec.ts',
    test: 'are bounded for each network, oldest first, and leave room for others',
  },
  {
    name: 'half-sent-heads-in-all',
    guards: 'payments during such a flood from many networks',
    edits: [
      ['src/http/connections/incomplete.ts', 'if (waiting.size > inAll) end', 'if (waiting.size > inAll * 1e9) end'],
    ],
    noticedBy: 'test/continuity/failover/half-sent.full.spec.ts',
    test: 'are bounded in all',
  },
  {
    name: 'time-of-a-head',
    guards: 'places for payments against heads that are sent a byte at a time',
    edits: [['src/app/app.ts', '      headersTimeout: HEAD_TIMEOUT_MS,\n', '']],
    noticedBy: 'test/interface/slow-request.spec.ts',
    test: 'has a limited time, after which Node closes its connection',
  },
  {
    name: 'time-of-an-attempt',
    guards: 'calls to an upstream with several addresses that are further away than a quarter of a second',
    edits: [
      [
        'src/platform/network/egress.ts',
        'autoSelectFamilyAttemptTimeout: Math.ceil(timeoutMs / 3)',
        'autoSelectFamilyAttemptTimeout: 250',
      ],
    ],
    noticedBy: 'src/platform/network/egress.spec.ts',
    test: 'gives each address of a host a third of the time to connect',
  },
  {
    name: 'retry-after-as-a-date',
    guards: 'an upstream that says by a date until when it takes nothing',
    edits: [
      [
        'src/gateway/upstream/transport/headers.ts',
        'HTTP_DATE.test(text) ? Date.parse',
        'HTTP_DATE.test(text) && nowMs < 0 ? Date.parse',
      ],
    ],
    noticedBy: 'src/gateway/upstream/transport/headers.spec.ts',
  },
  {
    name: 'body-kept-once',
    guards: 'payments against a flood of requests, without a key, for a long body that is compressed for each',
    edits: [
      ['src/http/answers/kept-body.ts', '(encodings ??= encode(Buffer.from(read())))', 'encode(Buffer.from(read()))'],
    ],
    noticedBy: 'test/history/retention/kept-bodies.spec.ts',
  },
  {
    name: 'refused-tunnel',
    guards: 'a payment whose egress proxy refuses the tunnel, and which must not be sent to the proxy itself',
    edits: [['src/platform/network/egress.ts', 'if (statusCode >= 200 && statusCode < 300)', 'if (statusCode >= 200)']],
    noticedBy: 'test/start/egress.spec.ts',
    test: 'sends nothing if a tunnel is refused with',
  },
  {
    name: 'silent-egress-proxy',
    guards: 'a network that only an egress proxy leads out of',
    edits: [
      [
        'src/platform/network/egress.ts',
        'if (!ofProtocol || this.isDirect(target))',
        'if (ofProtocol || this.isDirect(target))',
      ],
    ],
    noticedBy: 'src/platform/network/egress.spec.ts',
    test: 'connects to other hosts through the proxy of their protocol',
  },
  {
    name: 'certificate-of-another',
    guards: 'a process that undici would keep busy forever with a certificate of another name',
    edits: [
      [
        'src/platform/network/egress.ts',
        "isOtherName ? Object.assign(error, { code: 'TLS_CERT_OTHER_NAME' }) : error",
        'error',
      ],
    ],
    noticedBy: 'src/platform/network/egress.spec.ts',
    test: 'has a code for a certificate of another name with which undici does not begin again',
  },
  {
    name: 'decompression-bomb',
    guards: 'a process whose memory an answer of the upstream would fill',
    edits: [['src/gateway/upstream/transport/content-coding.ts', 'if (size > maxBytes) return undefined;', '']],
    noticedBy: 'src/gateway/upstream/transport/content-coding.spec.ts',
    test: 'stops at the size limit, and so decodes no bomb',
  },
];
