import { Controller, Get, Param } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ownView } from '../../access/auth/owner';
import { Shows } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Receipt } from './receipt.dto';
import { ReceiptsService } from './receipts.service';
import { ApiId, ApiSummary } from '../../platform/schema/routes';

@Controller('v1')
export class ReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  @Get('calls/:id/receipt')
  @Allow('pay', 'write', 'read')
  @ApiTags('Calls')
  @ApiSummary(
    'Get a receipt of a call to verify offline',
    'Finds only your own calls. A receipt has the records of the call, their inclusion ' +
      'proofs, and the committed values. `node tools/verify-receipt.mjs --key <key> receipt.json` verifies it offline. Records ' +
      'are sealed within seconds. A receipt lacks later records, such as an outcome.',
  )
  @ApiId('ID of the call: the `X-Call-Id` of its answer.')
  @ApiResponse({ status: 200, type: Receipt, description: 'The receipt.' })
  @ApiKeyProblems('call_not_found', 'not_sealed')
  readReceipt(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<Receipt> {
    const { owner, reveal } = ownView(call);
    return this.receipts.receipt(id, owner, reveal);
  }

  /** Auditors see the calls of every client. Each read is recorded. */
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
