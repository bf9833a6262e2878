/** Guards of the instances' evidence about a database, and of its recovery. */

const EPOCH = 'src/continuity/fence/epoch.service.ts';
const RECOVERY = 'src/journal/recovery/recovery.ts';
const EVIDENCE = 'test/history/log/epoch-evidence.full.spec.ts';
const LOST = 'test/reconciliation/in-doubt/lost-payments.full.spec.ts';
const HEARTBEAT = 'src/continuity/heartbeat/heartbeat.service.ts';
const DECISIONS = 'src/journal/decisions/decisions.ts';
const MOVED = 'test/continuity/recovery/moved-database.full.spec.ts';
const RECOVERED_GUARDS = 'test/continuity/recovery/recovered-guards.spec.ts';

export const RECOVERIES = [
  {
    name: 'epoch-at-start',
    guards: 'an old database at the next start of an instance',
    edits: [[EPOCH, 'this.seen = this.file.read();', 'this.seen = undefined;']],
    noticedBy: 'test/continuity/failover/durability-epoch.full.spec.ts',
    test: 'stops the instance at every start',
  },
  {
    name: 'epoch-with-heartbeats',
    guards: 'an old database behind an existing connection',
    edits: [
      [
        EPOCH,
        'else if (beat.number === null) this.findBehind(',
        'else if (beat.number === 0n) this.findBehind(',
      ],
    ],
    noticedBy: EVIDENCE,
    test: 'detects missing heartbeats, even on a persistent connection',
  },
  {
    name: 'smaller-epoch',
    guards: 'a retired server that returns with as many heartbeats',
    edits: [
      [
        EPOCH,
        'if (this.epoch !== undefined && beat.epoch < this.epoch)',
        'if (this.epoch !== undefined && beat.epoch < 0)',
      ],
      [
        'src/continuity/epoch/epoch-comparison.ts',
        'if (seen && found.epoch < seen.epoch)',
        'if (seen && found.epoch < 0)',
      ],
    ],
    noticedBy: EVIDENCE,
    test: 'detects a smaller epoch, as when an abandoned server returns',
  },
  {
    name: 'evidence-of-approvals',
    guards: 'an approval of the last second missing from an old database',
    edits: [['src/admin/approvals/approvals.service.ts', "this.epoch.remember('approved', id);", '']],
    noticedBy: EVIDENCE,
    test: 'includes the last approval, which could be given again',
  },
  {
    name: 'evidence-of-outcomes',
    guards: 'an outcome of the last second missing from an old database',
    edits: [['src/journal/call-journal.ts', "epoch.remember('answered', outcomes[0]!.intentId);", '']],
    noticedBy: EVIDENCE,
    test: 'includes the last outcome, and survives a restart',
  },
  {
    name: 'evidence-after-restarts',
    guards: 'a restart that forgets that the database is old',
    edits: [
      [
        EPOCH,
        "this.fence.raise('database_behind', this.behind);\n    this.save();",
        "this.fence.raise('database_behind', this.behind);",
      ],
    ],
    noticedBy: EVIDENCE,
    test: 'includes the last admission, and survives a restart',
  },
  {
    name: 'evidence-of-checkpoints',
    guards: 'an old database at an instance with a new DATA_DIR',
    edits: [
      [
        'src/history/log/sealing/checkpoint-file.ts',
        'if (state.size >= newest.size || state.isRecovered) return;',
        'if (state.size >= 0 || state.isRecovered) return;',
      ],
    ],
    noticedBy: MOVED,
    test: 'is detected by a larger checkpoint, even by a fresh instance',
  },
  {
    name: 'move-of-the-last-instance',
    guards: 'a confirmed move before every instance has arrived',
    edits: [
      [
        'src/continuity/epoch/epoch-comparison.ts',
        'return !seen || found.othersMs > Date.parse(seen.seen_at) - MAY_LIVE_MS;',
        'return !seen;',
      ],
    ],
    noticedBy: MOVED,
    test: 'is not confirmed while another instance that used the old server to the end is missing',
  },
  {
    name: 'move-without-misses',
    guards: 'a move confirmed by an instance that misses commits',
    edits: [[HEARTBEAT, 'this.isPaying, this.isBehind]', 'this.isPaying, false]']],
    noticedBy: MOVED,
    test: 'is not confirmed by a new instance that misses commits but no heartbeat',
  },
  {
    name: 'recovered-recipients',
    guards: "a recipient's limit that appears unused after a recovery",
    edits: [[RECOVERY, 'json_to_recordset(payments) AS', "json_to_recordset('[]') AS"]],
    noticedBy: RECOVERED_GUARDS,
    test: 'counts against the daily limit of its recipient',
  },
  {
    name: 'lost-content',
    guards: 'an approval of a call without content, which would send an empty request',
    edits: [
      ['src/gateway/waiting/waiting-call.ts', "  if (intent.recovered) return 'content_lost';\n", ''],
      ['src/gateway/waiting/waiting-call.ts', 'body === null || ', ''],
    ],
    noticedBy: RECOVERED_GUARDS,
    test: 'can only be rejected if its content is missing',
  },
  {
    name: 'recovered-approvals',
    guards: 'a second approval of an approved call after a recovery',
    edits: [
      [RECOVERY, 'WHERE NOT EXISTS (SELECT FROM decision d WHERE d.intent_id = a.intent_id)', 'WHERE FALSE'],
    ],
    noticedBy: RECOVERED_GUARDS,
    test: 'is not approved twice, and counts against the caps of the day of its approval',
  },
  {
    name: 'recovered-approved-sums',
    guards: 'a cap that appears unused after the recovery of approved calls',
    edits: [[RECOVERY, '[...restored.map(({ id }) => id), ...doubted]', '[...doubted]']],
    noticedBy: RECOVERED_GUARDS,
    test: 'is not approved twice, and counts against the caps of the day of its approval',
  },
  {
    name: 'recovered-outcomes',
    guards: 'a known outcome in doubt after a recovery',
    edits: [[RECOVERY, 'WHERE EXISTS (SELECT FROM intent i WHERE i.id = t.intent_id)', 'WHERE FALSE']],
    noticedBy: 'test/continuity/failover/durability-epoch.full.spec.ts',
    test: 'replays the old key, counts its amount, and pays only what was not paid',
  },
  {
    name: 'keys-given-back',
    guards: 'a key used again before its call was restored',
    edits: [
      [
        RECOVERY,
        'await giveKeysBack(prisma, await restorePersons(prisma, batch));',
        'await giveKeysBack(prisma, []);',
      ],
    ],
    noticedBy: 'test/continuity/recovery/recovered-calls.full.spec.ts',
    test: 'prevents a second payment by a held call',
  },
  {
    name: 'rejected-keys-given-back',
    guards: 'the key of a rejected call, used again before the call was restored',
    edits: [
      [
        'src/journal/settlement/double-payments.ts',
        'if (!copied || !owner || isKeyFree(copied)) return;',
        'if (!copied || !owner || !mayBePaid(copied)) return;',
      ],
    ],
    noticedBy: 'test/continuity/recovery/recovered-calls.full.spec.ts',
    test: 'keeps its key after a rejection, unless the later call has a response too',
  },
  {
    name: 'recovery-gap-is-read',
    guards: "a stop lifted before a run read the recovery gap from the upstream's list",
    edits: [
      ['src/journal/stops/stops.ts', 'AND (epochs = 0 OR ${unreconciled})', ''],
      [
        'src/admin/stops/stops.service.ts',
        "if (unread) throw new Problem('recovery_required'",
        "if (unread === null) throw new Problem('recovery_required'",
      ],
    ],
    noticedBy: LOST,
    test: 'keeps everything stopped until a run has read the period of possible loss',
  },
  {
    name: 'lost-payments-are-held',
    guards: 'a second payment of one that only the upstream knows',
    edits: [
      [
        'src/journal/admission/state.ts',
        'isUnexplained ? await readUnexplained(tx, requests) : new Map<string, string>()',
        'isUnexplained ? await readUnexplained(tx, []) : new Map<string, string>()',
      ],
    ],
    noticedBy: LOST,
  },
  {
    name: 'spool-at-start',
    guards: 'a spooled outcome unrecorded by the next start',
    edits: [
      [
        'src/continuity/spool/spool.ts',
        'for (const id of await this.work.spool.ids()) this.kept.set(id, undefined);',
        'await this.work.spool.ids();',
      ],
    ],
    noticedBy: 'test/continuity/recovery/spool-after-kill.full.spec.ts',
    test: 'is recorded once with its IDs after the next start',
  },
  {
    name: 'approval-of-a-recovery-gap',
    guards: 'a pending call that was approved and paid in the recovery gap',
    edits: [
      [DECISIONS, 'transaction !== undefined && transaction !== knownTransaction', 'transaction === null'],
    ],
    noticedBy: LOST,
  },
  {
    name: 'stop-of-a-recovery',
    guards: 'payments between the new epoch and the run, if no instance stopped everything',
    edits: [
      [
        'src/cli/database/recover.ts',
        'const { id: stopId } = await insertStopOfAll(prisma, `The database is being recovered: ' +
          '${options.reason}`);',
        "const stopId = 'none';",
      ],
    ],
    noticedBy: MOVED,
    test: 'can be recovered without evidence, and payments wait until an operator has read the list',
  },
  {
    name: 'copies-without-refused',
    guards: 'a refused call restored in doubt from a copy',
    edits: [
      ['src/journal/call-journal.ts', 'if (!refused.includes(row.intent.id)) copies', 'if (refused) copies'],
    ],
    noticedBy: 'test/continuity/failover/frozen-database.full.spec.ts',
    test: 'causes 503 before it resumes, sends no such call, and releases reservations and keys',
  },
];
