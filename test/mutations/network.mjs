/** Guards of the network and its settings. */

export const NETWORK = [
  {
    name: 'ambiguous-env-file',
    guards: 'a value in .env that other programs read differently',
    edits: [
      ['src/platform/config/environment/env-file.ts', 'const UNQUOTED = /^[^#$', 'const UNQUOTED = /^[^$'],
    ],
    noticedBy: 'src/platform/config/environment/env-file.spec.ts',
  },
  {
    name: 'ignored-parameter',
    guards: 'an ignored parameter of a database address',
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
    guards: 'a webhook secret with invalid base64 after whsec_',
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
    edits: [
      ['src/platform/json/exact-json.ts', 'if (!MAY_HAVE_ONE.test(text)) return value;', 'return value;'],
    ],
    noticedBy: 'src/gateway/upstream/answers/transactions.spec.ts',
    test: 'reads the digits of a numeric chiRef, even beyond the precision of a double',
  },
  {
    name: 'half-sent-heads',
    guards: 'payments blocked by a flood of half-sent requests',
    edits: [
      ['src/http/connections/incomplete-requests.ts', 'own.size > perNetwork', 'own.size > perNetwork * 1e9'],
    ],
    noticedBy: 'test/continuity/failover/half-sent.full.spec.ts',
    test: 'are limited per network, oldest first, and leave room for others',
  },
  {
    name: 'half-sent-heads-in-all',
    guards: 'payments blocked by such a flood from many networks',
    edits: [
      [
        'src/http/connections/incomplete-requests.ts',
        'if (waiting.size > inAll) end',
        'if (waiting.size > inAll * 1e9) end',
      ],
    ],
    noticedBy: 'test/continuity/failover/half-sent.full.spec.ts',
    test: 'are limited in total',
  },
  {
    name: 'header-timeout',
    guards: 'capacity exhausted by headers sent one byte at a time',
    edits: [['src/app/app.ts', '      headersTimeout: HEAD_TIMEOUT_MS,\n', '']],
    noticedBy: 'test/interface/slow-request.spec.ts',
    test: 'times out, and Node closes its connection',
  },
  {
    name: 'connect-attempt-timeout',
    guards: 'failed calls to a distant upstream with several addresses',
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
    guards: 'an ignored Retry-After with a date instead of seconds',
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
    name: 'shared-long-bodies',
    guards: 'CPU exhausted by compressing one long body for each request of a flood',
    edits: [
      ['src/app/serve-docs.ts', '(encodings ??= encode(Buffer.from(read())))', 'encode(Buffer.from(read()))'],
    ],
    noticedBy: 'test/history/retention/kept-bodies.spec.ts',
  },
  {
    name: 'refused-tunnel',
    guards: 'a payment sent to the egress proxy itself after a refused tunnel',
    edits: [
      [
        'src/platform/network/egress.ts',
        'if (statusCode >= 200 && statusCode < 300)',
        'if (statusCode >= 200)',
      ],
    ],
    noticedBy: 'test/start/egress.spec.ts',
    test: 'sends nothing if a tunnel is refused with',
  },
  {
    name: 'egress-proxy-bypass',
    guards: 'connections that bypass the egress proxy',
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
    name: 'foreign-certificate',
    guards: 'an endless loop in undici over a certificate of another name',
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
    guards: 'memory exhausted by a decompression bomb from the upstream',
    edits: [
      ['src/gateway/upstream/transport/content-coding.ts', 'if (size > maxBytes) return undefined;', ''],
    ],
    noticedBy: 'src/gateway/upstream/transport/content-coding.spec.ts',
    test: 'stops at the size limit, so it decodes no bomb',
  },
];
