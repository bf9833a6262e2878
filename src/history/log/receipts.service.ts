import { Injectable } from '@nestjs/common';
import { isUtf8 } from 'node:buffer';
import { PersonDocument } from '../../journal/documents';
import { isOwn, Owner } from '../../access/auth/owner';
import { isUuid } from '../../platform/database/uuid';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { KindName } from './kinds';
import { ProofsService } from './proofs.service';
import { actorOf } from '../../journal/author';
import { Opening, Receipt, ReceiptRecord } from './receipt.dto';

/** The format that tools/verify-receipt.mjs reads. */
const RECEIPT_FORMAT = 'payout-proxy/receipt/1';

/** Who made a request, as its record says. */
interface Requester {
  client_id: string;
  person_id?: string | null;
  actor?: string | null;
  actor_commitment?: string | null;
}

/** Makes receipts: the records of a call, their inclusion proofs, and the committed data of people. */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly proofs: ProofsService,
  ) {}

  /**
   * @param owner whose call it must be. Undefined allows any call.
   * @param reveal whether to open commitments. If not, the receipt looks as if people had been erased.
   * @throws Problem call_not_found if there is no such call, not_sealed while one of its records is too new.
   */
  async receipt(id: string, owner: Owner | undefined, reveal: boolean): Promise<Receipt> {
    if (!isUuid(id)) throw new Problem('call_not_found');
    const call = id.toLowerCase();
    const found = await this.proofs.recordsOf(call);
    const request = found.find(({ kind }) => kind === 'intent' || kind === 'refusal');
    if (!request) throw new Problem('call_not_found');
    const requester = JSON.parse(request.leaf) as Requester;
    const { client_id: clientId, person_id: personId = null, actor = null } = requester;
    if (owner && !isOwn({ clientId, personId, actor }, owner)) throw new Problem('call_not_found');
    const { note, proved, unsealed } = await this.proofs.prove(call, found);
    if (unsealed.length > 0) throw new Problem('not_sealed');
    const records: ReceiptRecord[] = [];
    for (const { kind, index, record, proof } of proved) {
      if (record === null) continue; // it was pruned in the meantime
      records.push({
        kind,
        index,
        record,
        proof,
        openings: reveal ? await this.openingsOf(call, kind, requester) : [],
      });
    }
    const { name, verifierKey } = this.proofs.signerOf(note);
    const log = { origin: name, key: verifierKey };
    return { format: RECEIPT_FORMAT, call_id: call, log, checkpoint: note, records };
  }

  private async openingsOf(intentId: string, kind: KindName, request: Requester): Promise<Opening[]> {
    if (kind === 'outcome') return ofBody(await this.prisma.outcomeBody.findUnique({ where: { intentId } }));
    if (kind === 'refusal') {
      const key = await this.prisma.refusalKey.findUnique({ where: { refusalId: intentId } });
      return [...ofKey(key), ...(await this.ofActor(request))];
    }
    if (kind !== 'intent') return [];
    const row = await this.prisma.intentBody.findUnique({ where: { intentId } });
    const people = JSON.parse(row?.people ?? '[]') as PersonDocument[];
    const ofPeople = people.flatMap(({ position, salt, ...contacts }) =>
      Object.entries(contacts as Record<string, string>).flatMap(([name, value]) =>
        opening(`items/${position}/${name}_commitment`, Buffer.from(salt, 'hex'), value),
      ),
    );
    const key = { key: row?.idempotencyKey ?? null, salt: row?.idempotencyKeySalt ?? null };
    return [...ofBody(row), ...ofPeople, ...ofKey(key), ...(await this.ofActor(request))];
  }

  /** A name that was set after an erasure does not open the commitments from before. */
  private async ofActor({ person_id: id, actor_commitment: committed }: Requester): Promise<Opening[]> {
    if (!id || !committed) return [];
    const person = await this.prisma.person.findUnique({ where: { id } });
    const name = actorOf({ actor_commitment: committed }, person);
    return name !== null && person?.salt ? opening('actor_commitment', person.salt, name) : [];
  }
}

function ofBody(row: { salt: Uint8Array | null; body: Uint8Array | null } | null): Opening[] {
  return row?.salt && row.body ? opening('body_commitment', row.salt, row.body) : [];
}

/** An erased key has no salt. */
function ofKey(row: { salt: Uint8Array | null; key: string | null } | null): Opening[] {
  return row?.salt && row.key !== null ? opening('idempotency_key_commitment', row.salt, row.key) : [];
}

function opening(commitment: string, salt: Uint8Array, value: string | Uint8Array): Opening[] {
  const bytes = Buffer.from(value);
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return [{ commitment, salt: Buffer.from(salt).toString('hex'), value: bytes.toString(encoding), encoding }];
}
