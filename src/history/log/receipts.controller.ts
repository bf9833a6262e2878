import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows } from '../../access/auth/shows';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { Receipt } from './receipt.dto';
import { ReceiptsService } from './receipts.service';

@ApiTags('Calls')
@ApiSecurity('key')
@Controller('v1/calls')
export class ReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get(':id/receipt')
  @Allow('pay', 'write', 'read')
  @ApiOperation({
    summary: 'A receipt of a call, provable offline',
    operationId: 'readReceipt',
    description:
      'Scope `pay`, `write` or `read`; only calls of the same client are found. Its records, the proofs that the log has them, ' +
      'and what they commit to. `node tools/verify-receipt.mjs --key <key> receipt.json` checks it and asks nobody. Records ' +
      'are sealed within seconds; one that comes later, such as an outcome, stands in the next receipt.',
  })
  @ApiParam({
    name: 'id',
    schema: { type: 'string', format: 'uuid' },
    description: 'The id of the call, the `X-Call-Id` of its answer.',
  })
  @ApiResponse({ status: 200, type: Receipt, description: 'The receipt.' })
  @ApiKeyProblems('call_not_found', 'not_sealed')
  async one(@CurrentCall() { caller, masked }: AuthenticatedCall, @Param('id') id: string): Promise<Receipt> {
    if (!isUuid(id)) throw new Problem('call_not_found');
    return this.receipts.receipt(id.toLowerCase(), caller.clientId, !masked);
  }
}

/** For auditors, who see every client's calls: on record, as any other reading. */
@ApiTags('Audit')
@ApiSecurity('key')
@Controller('v1/audit/calls')
export class AuditReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get(':id/receipt')
  @Allow('audit')
  @Shows(({ call_id, records }: Receipt) => ({ rows: records.length, callId: call_id, people: true }))
  @ApiOperation({
    summary: 'A receipt of any call, provable offline',
    operationId: 'readAuditReceipt',
    description:
      'Scope `audit`. As an app gets it of its own call; what the records commit to is opened for keys with `audit:pii` only.',
  })
  @ApiParam({
    name: 'id',
    schema: { type: 'string', format: 'uuid' },
    description: 'The id of the call, the `X-Call-Id` of its answer.',
  })
  @ApiResponse({ status: 200, type: Receipt, description: 'The receipt.' })
  @ApiKeyProblems('call_not_found', 'not_sealed')
  async one(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<Receipt> {
    if (!isUuid(id)) throw new Problem('call_not_found');
    return this.receipts.receipt(id.toLowerCase(), undefined, mayReveal(call));
  }
}
