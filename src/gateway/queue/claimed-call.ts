import { OperationCall } from '../../access/auth/call';
import { Caller } from '../../access/callers/caller';
import { recipientsOf } from '../../journal/admission/recipients';
import { IntentDocument } from '../../journal/records/documents';
import { operationNamed } from '../../operations/catalogue/catalogue';
import { readFeeRule } from '../../operations/items/fees';
import { Item } from '../../operations/items/item';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { REQUEST_TIMEOUT_MS } from '../../platform/database/pools/timeouts';
import { readableIn } from '../../platform/database/rows/stored-body';
import { rememberTrace } from '../../platform/logging/trace-ids';
import { NamedRecipient } from '../../policy/limits/beneficiaries';
import { PreparedRequest } from '../forwarding/prepared-request';
import { itemsOfRecord } from '../waiting/recorded-items';
import { toPrepared, WaitingCall } from '../waiting/waiting-call';

/** A queued call that this process has claimed. */
export class ClaimedCall implements WaitingCall {
  /** The recorded items, including amounts that the request omitted. */
  readonly items: Item[];
  readonly recipients: NamedRecipient[];
  /** The requester, as of the ruling. */
  requester: Caller | undefined;
  private request: PreparedRequest | undefined;

  constructor(
    readonly intent: IntentDocument,
    readonly body: WaitingCall['body'],
    people: string | null,
  ) {
    this.items = itemsOfRecord(intent, people);
    this.recipients = recipientsOf(intent.client_id, operationNamed(intent.operation), this.items);
  }

  /** The request to send. */
  get prepared(): PreparedRequest {
    this.request ??= toPrepared(this);
    return this.request;
  }

  /** Returns the call of its requester, as if it came again now. */
  as(caller: Caller, sendBy = performance.now() + REQUEST_TIMEOUT_MS): OperationCall {
    const { id, request_id, traceparent, client_address, received_at, operation, expected_fee } = this.intent;
    if (traceparent !== undefined) rememberTrace(id, traceparent);
    return {
      id,
      requestId: request_id,
      traceparent,
      clientAddress: client_address,
      ownOrigin: '',
      origin: undefined,
      idempotencyKey: undefined,
      allowDuplicateOf: undefined,
      prefer: undefined,
      claimedActor: undefined,
      person: null,
      masked: false,
      operation: operationNamed(operation),
      receivedAt: new Date(received_at),
      startedAt: performance.now(),
      sendBy,
      bodyBeganAt: performance.now(),
      caller,
      connection: undefined,
      sessionToken: undefined,
      opened: true,
      outcome: undefined,
      timings: {},
      feeRule: expected_fee === undefined ? null : (readFeeRule(expected_fee) ?? null),
    };
  }
}

interface ClaimedRow {
  record: string;
  salt: Uint8Array | null;
  body: Uint8Array | null;
  coding: string | null;
  people: string | null;
}

/** Reads claimed calls, oldest first. */
export async function readClaimed(prisma: PrismaService, ids: string[]): Promise<ClaimedCall[]> {
  const wanted = Prisma.sql`ANY (${ids}::uuid[])`;
  const rows = await prisma.$queryRaw<ClaimedRow[]>`
    SELECT i.record, b.salt, b.body, b.coding, b.people
    FROM intent i LEFT JOIN intent_body b ON b.intent_id = i.id AND b.intent_id = ${wanted}
    WHERE i.id = ${wanted} ORDER BY i.id`;
  return rows.map(({ record, salt, body: stored, coding, people }) => {
    const body = stored && readableIn({ body: stored, coding });
    return new ClaimedCall(JSON.parse(record) as IntentDocument, salt && body && { salt, body }, people);
  });
}
