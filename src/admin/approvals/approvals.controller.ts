import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticatedCall, CurrentCall } from '../../access/auth/call';
import { Allow, Shows, showsCall, showsCalls } from '../../access/auth/route-access';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { ApprovalPage, ApprovalSearch, DecisionDto, FullApprovalRecord } from './approvals.dto';
import { ApprovalsService } from './approvals.service';

const CallId = () => ApiId('ID of the call.', 'call_id');

const DECISION_PROBLEMS = [
  ...([
    'invalid_request',
    'own_approval',
    'approval_not_found',
    'already_decided',
    'approval_expired',
  ] as const),
  ...(['personal_key_required', 'content_changed', 'instance_fenced'] as const),
] as const;

/** Serves held calls: they need a second person's approval before they are sent. */
@ApiTags('Approvals')
@Controller('v1/approvals')
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Get()
  @Allow('approve')
  @Shows(({ approvals }: ApprovalPage) => showsCalls(approvals))
  @ApiSummary('List held calls')
  @ApiResponse({ status: 200, type: ApprovalPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  listApprovals(
    @CurrentCall() call: AuthenticatedCall,
    @Query() search: ApprovalSearch,
  ): Promise<ApprovalPage> {
    return this.approvals.list(call, search);
  }

  @Get(':call_id')
  @Allow('approve')
  @Shows(showsCall)
  @ApiSummary('Read a held call')
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The call, with its `approval`.' })
  @ApiKeyProblems('approval_not_found')
  readApproval(
    @CurrentCall() call: AuthenticatedCall,
    @Param('call_id') id: string,
  ): Promise<FullApprovalRecord> {
    return this.approvals.one(call, id);
  }

  @Post(':call_id/approve')
  @HttpCode(200)
  @Allow('approve')
  @Shows(showsCall)
  @ApiSummary(
    'Approve a held call, and send it',
    'Requires a client, a key, and a person other than those of the requester. The call is sent once. The ' +
      'response follows when the outcome is recorded. Check `outcome`, which may be `unknown`.',
  )
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The call with its outcome.' })
  @ApiKeyProblems(
    ...DECISION_PROBLEMS,
    ...(['cap_exceeded', 'key_revoked', 'no_longer_allowed', 'suspected_duplicate'] as const),
    ...(['step_up_required', 'content_lost', 'stopped', 'outcome_unknown'] as const),
  )
  approveCall(
    @CurrentCall() call: AuthenticatedCall,
    @Param('call_id') id: string,
    @Body() decision: DecisionDto,
  ): Promise<FullApprovalRecord> {
    return this.approvals.approve(call, id, decision);
  }

  @Post(':call_id/reject')
  @HttpCode(200)
  @Allow('approve')
  @Shows(showsCall)
  @ApiSummary(
    'Reject a held call',
    'Requires a client, a key, and a person other than those of the requester. The call is never sent.',
  )
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The rejected call.' })
  @ApiKeyProblems(...DECISION_PROBLEMS)
  rejectCall(
    @CurrentCall() call: AuthenticatedCall,
    @Param('call_id') id: string,
    @Body() decision: DecisionDto,
  ): Promise<FullApprovalRecord> {
    return this.approvals.reject(call, id, decision);
  }
}
