import { Controller, Get, Header, Query, Param } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticatedCall, CurrentCall, mayReveal } from '../../access/auth/call';
import { ownView } from '../../access/auth/owner';
import { Allow, Shows } from '../../access/auth/route-access';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiSummary, ApiId } from '../../platform/schema/routes';
import { ConsistencySearch, ProofSearch, Consistency, Inclusion, Receipt } from './log.dto';
import { ProofsService, ReceiptsService } from './proofs.service';

const TEXT = { 'text/plain': { schema: { type: 'string' } } } as const;

/** Serves the log that seals the records, and proofs that none was changed, removed, or inserted later. */
@ApiTags('Log')
@Controller('v1/audit/log')
export class LogController {
  constructor(private readonly proofs: ProofsService) {}

  @Get('checkpoint')
  @Allow('audit')
  @Header('content-type', 'text/plain; charset=utf-8')
  @ApiSummary(
    'Read the newest checkpoint',
    'A signed note (c2sp.org/signed-note) of the size of the log and the root of its Merkle tree. Keep it ' +
      'where the operator cannot write. `audit verify --checkpoint` compares it with the log.',
  )
  @ApiResponse({ status: 200, content: TEXT, description: 'The note.' })
  @ApiKeyProblems('not_sealed')
  async readCheckpoint(): Promise<string> {
    return (await this.proofs.latest()).note;
  }

  @Get('key')
  @Allow('audit')
  @Header('content-type', 'text/plain; charset=utf-8')
  @ApiSummary(
    'Read the verifier keys of the log',
    '`<name>+<id>+<base64>`, the format of the Go note package, one per line. The current keys come first. ' +
      'Get them once, and store them.',
  )
  @ApiResponse({ status: 200, content: TEXT, description: 'The keys.' })
  @ApiKeyProblems()
  readLogKey(): string {
    return this.proofs
      .ring()
      .all.map(({ verifierKey }) => `${verifierKey}\n`)
      .join('');
  }

  @Get('proof')
  @Allow('audit')
  @Shows(({ id, records }: Inclusion) => ({ rows: records.length, callId: id, people: false }))
  @ApiSummary(
    'Prove that records are in the log',
    'Name a call or another record. Leaves contain commitments instead of people.',
  )
  @ApiResponse({ status: 200, type: Inclusion, description: 'The records, with inclusion proofs.' })
  @ApiKeyProblems('invalid_request', 'record_not_found')
  async proveInclusion(@Query() { call, record }: ProofSearch): Promise<Inclusion> {
    const id = call ?? record;
    if (id === undefined || (call !== undefined && record !== undefined)) {
      const detail = 'must be the ID of a call, unless record is given. Give exactly one of the two';
      throw new Problem('invalid_request', { faults: [{ pointer: '/call', detail }] });
    }
    const found = await this.proofs.recordsOf(id);
    const { note, proved, unsealed } = await this.proofs.prove(id.toLowerCase(), found);
    if (proved.length + unsealed.length === 0) throw new Problem('record_not_found');
    return { id: id.toLowerCase(), checkpoint: note, records: proved, unsealed };
  }

  @Get('consistency')
  @Allow('audit')
  @ApiSummary(
    'Prove that the log only grew',
    'Proves that the tree of `to` leaves begins with the tree of `from` leaves.',
  )
  @ApiResponse({ status: 200, type: Consistency, description: 'The consistency proof.' })
  @ApiKeyProblems('invalid_request', 'not_sealed')
  async proveConsistency(@Query() { from, to }: ConsistencySearch): Promise<Consistency> {
    const { size } = await this.proofs.latest();
    const ofLog = `must not be larger than the log, which has ${size} leaves`;
    const faults = [
      ...(from > to ? [{ pointer: '/from', detail: 'must not be larger than to' }] : []),
      ...(to > size ? [{ pointer: '/to', detail: ofLog }] : []),
    ];
    if (faults.length > 0) throw new Problem('invalid_request', { faults });
    return { from, to, proof: await this.proofs.consistency(from, to) };
  }
}

@Controller('v1')
export class ReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get('calls/:id/receipt')
  @Allow('pay', 'write', 'read')
  @ApiTags('Calls')
  @ApiSummary(
    'Get a receipt of a call to verify offline',
    'Finds only your own calls. A receipt has the records of the call, their inclusion proofs, and the ' +
      'committed values. `node tools/verify-receipt.mjs --key <key> receipt.json` verifies it offline. ' +
      'Records are sealed within seconds. A receipt lacks later records, such as an outcome.',
  )
  @ApiId('ID of the call: the `X-Call-Id` of its answer.')
  @ApiResponse({ status: 200, type: Receipt, description: 'The receipt.' })
  @ApiKeyProblems('call_not_found', 'not_sealed')
  readReceipt(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<Receipt> {
    const { owner, reveal } = ownView(call);
    return this.receipts.receipt(id, owner, reveal);
  }

  /** Returns the receipt of any client's call. Each read is recorded. */
  @Get('audit/calls/:id/receipt')
  @Allow('audit')
  @Shows(({ call_id, records }: Receipt) => ({ rows: records.length, callId: call_id, people: true }))
  @ApiTags('Audit')
  @ApiSummary(
    'Get a receipt of any call to verify offline',
    'The same receipt that the app gets. Only keys with `audit:pii` get the committed values.',
  )
  @ApiId('ID of the call: the `X-Call-Id` of its answer.')
  @ApiResponse({ status: 200, type: Receipt, description: 'The receipt.' })
  @ApiKeyProblems('call_not_found', 'not_sealed')
  readAuditReceipt(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<Receipt> {
    return this.receipts.receipt(id, undefined, mayReveal(call));
  }
}
