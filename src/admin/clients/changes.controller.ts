import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticatedCall, changeAuthorOf, CurrentCall } from '../../access/auth/call';
import { Allow, ShownHistory, Shows } from '../../access/auth/route-access';
import { StepUp } from '../../access/auth/step-up';
import { ChangeDecisionsService } from '../../access/dual-control/change-decisions.service';
import { shownChange } from '../../access/dual-control/change-document';
import { PendingChange, shownBefore } from '../../access/dual-control/pending-changes';
import { ActivityState } from '../../history/access-log/activity-state.dto';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { idBefore, rowsToRead, toPage } from '../../platform/schema/page';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { asProblem } from './as-problem';
import {
  ApprovedChangeRecord,
  ChangeDecisionDto,
  ChangeRecord,
  ChangesDto,
  ChangeSearch,
} from './changes.dto';

const ChangeId = () => ApiId('ID of the change.');

/** Serves the changes under dual control. */
@ApiTags('Clients')
@ApiExtraModels(ActivityState)
@Controller('v1/changes')
export class ChangesController {
  constructor(private readonly decisions: ChangeDecisionsService) {}

  @Get()
  @Allow('admin', 'approve')
  @Shows(({ changes }: ChangesDto) => showsChanges(changes))
  @ApiSummary(
    'List changes that need a second person',
    'Changes of payouts need `approve`, and all others `admin`.',
  )
  @ApiResponse({ status: 200, type: ChangesDto, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listChanges(
    @CurrentCall() call: AuthenticatedCall,
    @Query() search: ChangeSearch,
  ): Promise<ChangesDto> {
    const { status = 'pending' } = search;
    const changes = await this.decisions.list(
      call.caller.scopes,
      status,
      rowsToRead(search),
      idBefore(search),
    );
    const { rows, nextPageToken } = toPage(changes, search);
    return { changes: await this.records(call, rows), next_page_token: nextPageToken };
  }

  @Post(':id/approve')
  @HttpCode(200)
  @Allow('admin', 'approve')
  @StepUp()
  @Shows((change: ChangeRecord) => showsChanges([change]))
  @ApiSummary(
    'Approve a change',
    'Send a personal key of another person than the requester. The change is checked again and applies at ' +
      'once. A personal key has no secret until its owner claims it, with a sign-in or with `claim_code`.',
  )
  @ChangeId()
  @ApiResponse({ status: 200, type: ApprovedChangeRecord, description: 'The change was made.' })
  @ApiKeyProblems(
    'step_up_required',
    ...(['invalid_request', 'own_approval', 'personal_key_required', 'change_not_found'] as const),
    ...(['change_decided', 'change_superseded', 'incompatible_scopes', 'recovery_required'] as const),
    'instance_fenced',
  )
  async approveChange(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
    @Body() { reason }: ChangeDecisionDto,
  ): Promise<ApprovedChangeRecord> {
    const { change, claimCode } = await this.decisions
      .approve(id, changeAuthorOf(call, reason))
      .catch(asProblem);
    return {
      ...(await this.record(call, change)),
      ...(claimCode !== undefined && { claim_code: claimCode }),
    };
  }

  @Post(':id/reject')
  @HttpCode(200)
  @Allow('admin', 'approve')
  @Shows((change: ChangeRecord) => showsChanges([change]))
  @ApiSummary('Reject a change', 'Send a personal key of another person than the requester.')
  @ChangeId()
  @ApiResponse({ status: 200, type: ChangeRecord, description: 'The change is never made.' })
  @ApiKeyProblems(
    ...(['invalid_request', 'own_approval', 'personal_key_required'] as const),
    ...(['change_not_found', 'change_decided'] as const),
  )
  async rejectChange(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
    @Body() { reason }: ChangeDecisionDto,
  ): Promise<ChangeRecord> {
    const change = await this.decisions.reject(id, changeAuthorOf(call, reason));
    return this.record(call, change);
  }

  private async records({ caller }: AuthenticatedCall, changes: PendingChange[]): Promise<ChangeRecord[]> {
    const names = await this.decisions.namesFor(changes);
    const own = await this.decisions.ownOf(changes, caller.keyId);
    return changes.map((change) => ({ ...toRecord(change, names), is_own: own.has(change.id) }));
  }

  private async record(call: AuthenticatedCall, change: PendingChange): Promise<ChangeRecord> {
    const [record] = await this.records(call, [change]);
    if (!record) throw new Error('the change has no record');
    return record;
  }
}

/** Changes of payouts show their calls. */
function showsChanges(changes: ChangeRecord[]): ShownHistory {
  return {
    rows: changes.length,
    callIds: changes.flatMap(({ after }) => after.call_id ?? []),
    people: false,
  };
}

function toRecord(row: PendingChange, names: ReadonlyMap<string, string>): Omit<ChangeRecord, 'is_own'> {
  const { id, kind, status, client, expands, before, change, clientId, keyId, person } = row;
  const { deciderClientId, deciderKeyId, deciderPerson } = row;
  const isDecided = deciderClientId !== null && deciderKeyId !== null && deciderPerson !== null;
  const nameOf = (clientId: string) => names.get(clientId) ?? null;
  return {
    id,
    kind,
    status,
    client,
    expands,
    before: before && shownBefore(before, change),
    after: shownChange(client, change),
    holders: before?.holders ?? [],
    reason: row.reason,
    requested_by: { client: nameOf(clientId), key_id: keyId, person },
    requested_at: row.requestedAt,
    expires_at: row.expiresAt,
    decided_by: isDecided
      ? { client: nameOf(deciderClientId), key_id: deciderKeyId, person: deciderPerson }
      : null,
    decided_at: row.decidedAt,
    decision_reason: row.decisionReason,
  };
}
