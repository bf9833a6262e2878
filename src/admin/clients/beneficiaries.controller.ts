import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { AuthenticatedCall, changeAuthorOf, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import { StepUp } from '../../access/auth/step-up';
import { BeneficiariesService } from '../../access/clients/beneficiaries.service';
import { MAX_AT_ONCE, REGISTER_LISTS, RegisterList } from '../../access/clients/register-lists';
import { ListedBeneficiary, RegisterChangeResult } from '../../access/clients/register-writes';
import { DualControlService } from '../../access/dual-control/dual-control.service';
import { isRequestedChange } from '../../access/dual-control/pending-changes';
import { pendingResponse, PENDING_RESPONSE, WaitingDto } from '../../access/dual-control/pending-response';
import { BENEFICIARY_MUST, readBeneficiary } from '../../http/validation/rules/beneficiary-text';
import { OneOf, PageSize, PageToken } from '../../http/validation/rules/query-rules';
import { NotForwarded, Text, WordList } from '../../http/validation/rules/rules';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Fault, Problem } from '../../platform/errors/problem';
import { described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';
import {
  idBefore,
  LONG_PAGE,
  nextPageToken,
  PageRequest,
  rowsToRead,
  toPage,
} from '../../platform/schema/page';
import { ApiClientName, ApiSummary } from '../../platform/schema/routes';
import { asProblem } from './as-problem';

const MAX_LENGTH = 320;

const Recipients = (description: string) =>
  WordList(
    {
      required: false,
      must: `must be a list of at most ${MAX_AT_ONCE} texts of at most ${MAX_LENGTH} characters`,
      test: (value) =>
        Array.isArray(value) &&
        value.length <= MAX_AT_ONCE &&
        value.every((text) => typeof text === 'string' && text.length <= MAX_LENGTH),
    },
    {
      items: { type: 'string' },
      maxItems: MAX_AT_ONCE,
      description,
      example: ['+254712345678', 'ada@example.com'],
    },
  );

@NotForwarded()
class ChangeBeneficiariesDto {
  @OneOf(REGISTER_LISTS, 'The list. `blocked` wins over `allowed`.', { required: true }) list!: RegisterList;
  @Recipients('Email addresses, phone numbers, handles, or `receiver:` and the ID of a sub-account.')
  add?: string[];
  @Recipients('The same, or IDs of entries.') remove?: string[];
  @Text({ max: 1_000, required: false, description: 'Reason for the record.' })
  reason?: string;
}

class BeneficiarySearch implements PageRequest {
  @OneOf(REGISTER_LISTS, 'List of the entries.') list?: RegisterList;
  @PageSize(LONG_PAGE) page_size?: number;
  @PageToken() page_token?: string;
}

class BeneficiaryDto implements ListedBeneficiary {
  @described(UUID, 'ID of the entry.') id!: string;
  @described({ enum: REGISTER_LISTS }, 'List of the entry.') list!: RegisterList;
  @nullable(TEXT, 'Masked recipient. Null after its erasure.') recipient!: string | null;
  @described(INSTANT, 'Time of the registration.') registered_at!: Date;
}

class ChangedBeneficiariesDto implements RegisterChangeResult {
  @described({ type: [BeneficiaryDto] }, 'The entries of `add`.') added!: BeneficiaryDto[];
  @described({ type: [BeneficiaryDto] }, 'The entries of `remove`.') removed!: BeneficiaryDto[];
}

class BeneficiaryPage {
  @described({ type: [BeneficiaryDto] }, 'Oldest first.') beneficiaries!: BeneficiaryDto[];
  @nextPageToken() next_page_token!: string | null;
}

/** Manages a client's register of recipients. */
@ApiTags('Clients')
@Controller('v1/clients/:name/beneficiaries')
export class BeneficiariesController {
  constructor(
    private readonly register: BeneficiariesService,
    private readonly dualControl: DualControlService,
  ) {}

  @Get()
  @Allow('admin')
  @ApiSummary(
    "List a client's register of recipients",
    'Recipients are masked, because only hashes and masks are stored.',
  )
  @ApiClientName()
  @ApiResponse({ status: 200, type: BeneficiaryPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request', 'client_not_found')
  async listBeneficiaries(
    @Param('name') name: string,
    @Query() search: BeneficiarySearch,
  ): Promise<BeneficiaryPage> {
    const filters = { list: search.list, after: idBefore(search), limit: rowsToRead(search, LONG_PAGE) };
    const entries = await this.register.list(name, filters).catch(asProblem);
    const { rows, nextPageToken } = toPage(entries, search, { sizes: LONG_PAGE });
    return { beneficiaries: rows, next_page_token: nextPageToken };
  }

  @Post()
  @HttpCode(200)
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    "Change a client's register of recipients",
    'Each addition and removal is recorded. Existing entries stay unchanged. With dual control, additions ' +
      'to `allowed` and removals from `blocked` wait, so send `add` and `remove` in two requests.',
  )
  @ApiClientName()
  @ApiResponse({ status: 200, type: ChangedBeneficiariesDto, description: 'The change.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: PENDING_RESPONSE })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'personal_key_required', 'step_up_required')
  async changeBeneficiaries(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Body() { list, add: added = [], remove: removed = [], reason }: ChangeBeneficiariesDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ChangedBeneficiariesDto | WaitingDto> {
    const add = added.map(readBeneficiary);
    const remove = removed.map((text) => (isUuid(text) ? text : readBeneficiary(text)));
    const faults = [...faultsIn('add', add), ...faultsIn('remove', remove)];
    if (faults.length > 0) throw new Problem('invalid_request', { faults });
    const change = { list, add: add.filter(isDefined), remove: remove.filter(isDefined) };
    const changed = await this.dualControl
      .changeRegister(name, change, changeAuthorOf(call, reason))
      .catch(asProblem);
    return isRequestedChange(changed) ? pendingResponse(changed, reply) : changed;
  }
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

function faultsIn(field: 'add' | 'remove', recipients: unknown[]): Fault[] {
  return recipients.flatMap((recipient, index) =>
    recipient === undefined ? [{ pointer: `/${field}/${index}`, detail: BENEFICIARY_MUST }] : [],
  );
}
