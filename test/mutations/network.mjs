/** Guards of the network, its settings, and requests that wait for their turns. */

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
    edits: [['src/platform/json/exact-json.ts', 'if (!hasLongNumber) return value;', 'return value;']],
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
  {
    name: 'gone-before-turn',
    guards: 'a payment whose caller has disconnected while it waited',
    edits: [
      ['src/gateway/admission-control/load-shedder.ts', 'if (next.isGone())', 'if (false && next.isGone())'],
      ['src/gateway/admission-control/load-shedder.ts', 'if (isGone()) return new CallerDisconnected();', ''],
    ],
    noticedBy: 'test/limits/waiting-for-permits.spec.ts',
    test: 'leaves the queue when its caller disconnects, and nothing is recorded or sent',
  },
  {
    name: 'wait-extends-deadline',
    guards: 'a payment that is refused because it waited for its turn',
    edits: [
      [
        'src/gateway/admission-control/load-shedder.service.ts',
        'call.sendBy += Math.max(0, waitedMs - shedder.admissions.unansweredMs);',
        '',
      ],
    ],
    noticedBy: 'test/limits/waiting-for-permits.spec.ts',
    test: 'waits for its turn, and is sent long after the deadline for the database has passed',
  },
  {
    name: 'deadline-without-database',
    guards: 'a request that waits for its turn and then as long again for a database that does not answer',
    edits: [
      ['src/gateway/admission-control/load-shedder.service.ts', ' - shedder.admissions.unansweredMs', ''],
    ],
    noticedBy: 'test/limits/waiting-for-permits.spec.ts',
    test: 'has waited for the database while that did not answer, so its deadline passes',
  },
  {
    name: 'read-after-wait',
    guards: 'a read by a key that was revoked while it waited',
    edits: [
      [
        'src/gateway/forwarding/forwarding.service.ts',
        'if (permit.hasWaited) await this.admission.lookUpAgain(call);',
        '',
      ],
    ],
    noticedBy: 'test/limits/waiting-for-permits.spec.ts',
    test: 'is refused if its key was revoked before its turn to',
  },
  {
    name: 'wait-to-begin-counts',
    guards: 'a refusal after the patience of a request that waited to begin',
    edits: [['src/gateway/admission-control/load-shedder.service.ts', ' - waitedMs };', ' };']],
    noticedBy: 'test/limits/waiting-for-permits.spec.ts',
    test: 'is refused at once if it has waited as long as it may before it began',
  },
  {
    name: 'late-reviews',
    guards: 'refusals after the patience of requests, on a busy processor',
    edits: [
      [
        'src/gateway/admission-control/load-shedder.ts',
        'Math.max(REVIEW_EVERY_MS, forecast.nowMs - this.reviewedAt)',
        'REVIEW_EVERY_MS',
      ],
    ],
    noticedBy: 'src/gateway/admission-control/load-shedder-queue.spec.ts',
  },
  {
    name: 'pace-of-failures',
    guards: 'a Retry-After that grows with the number of failed admissions',
    edits: [['src/gateway/admission-control/load-shedder.ts', 'this.pool.usedAtOnce', 'this.pool.used']],
    noticedBy: 'src/gateway/admission-control/load-shedder.spec.ts',
  },
  {
    name: 'share-of-arrivals',
    guards: 'refusals that wait as long as a flood lasts',
    edits: [['src/http/connections/arrivals.ts', '1 + waitedMs / GROWS_EVERY_MS', '1']],
    noticedBy: 'src/http/connections/arrivals.spec.ts',
  },
];
