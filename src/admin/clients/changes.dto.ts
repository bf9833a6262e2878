import { ApiProperty } from '@nestjs/swagger';
import { CHANGE_STATUSES, ChangeStatus } from '../../access/dual-control/change-status';
import { CHANGE_KINDS } from '../../access/dual-control/pending-changes';
import { RevokedPerson } from '../../access/people/person-revocations.service';
import { ActivityState } from '../../history/access-log/activity-state.dto';
import { OneOf, PageSize, PageToken, Uuid } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text } from '../../http/validation/rules/rules';
import { isUuid } from '../../platform/database/uuid';
import { BOOLEAN, described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';

export class ChangeSearch implements PageRequest {
  @OneOf(CHANGE_STATUSES, 'Status of the changes. Default: `pending`.') status?: ChangeStatus;

  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

@NotForwarded()
export class ChangeDecisionDto {
  @Text({ max: 1_000, description: 'Reason for the record.', example: 'Case 17' })
  reason!: string;
}

class ChangePerson {
  @nullable(TEXT, 'Name of the client.') client!: string | null;
  @described(UUID, 'ID of the key.') key_id!: string;
  @described(TEXT, 'Owner of the key.') person!: string;
}

class KeyHolder {
  @described(UUID, 'ID of the key.') key_id!: string;
  @nullable(TEXT, 'Owner of the key. Null without an owner.') person!: string | null;
}

/** A change under dual control: of a client, a key, a stop, people, learned fees, or payouts. */
export class ChangeRecord {
  @described(UUID, 'ID of the change.') id!: string;
  @described({ enum: CHANGE_KINDS }, 'Kind of change.') kind!: (typeof CHANGE_KINDS)[number];
  @described({ enum: CHANGE_STATUSES }, '`superseded`: its object was changed meanwhile.')
  status!: ChangeStatus;
  @nullable(TEXT, 'Name of the changed client. Null for stops, people, fees and payouts.') client!:
    | string
    | null;
  @described(
    { type: [String] },
    'Expansions: fields of the client, `keys`, `beneficiaries`, `stops`, `people`, `fees`, `payouts`.',
  )
  expands!: string[];
  @nullable(ActivityState, 'Fields before the change. Null for a new client.')
  before!: ActivityState | null;
  @described({ type: ActivityState }, 'Fields after the change.') after!: ActivityState;
  @described({ type: [KeyHolder] }, 'Valid keys of the client at the request. The change applies to them.')
  holders!: KeyHolder[];
  @nullable(TEXT, 'Reason for the request.') reason!: string | null;
  @described({ type: ChangePerson }, 'The requester.') requested_by!: ChangePerson;
  @described(
    BOOLEAN,
    'Whether you requested it, or it merges you or settles your call. Another person must decide.',
  )
  is_own!: boolean;
  @described(INSTANT, 'Time of the request.') requested_at!: Date;
  @described(INSTANT, 'Deadline of the approval.') expires_at!: Date;
  @nullable(ChangePerson, 'The decider.') decided_by!: ChangePerson | null;
  @nullable(INSTANT, 'Time of the decision.') decided_at!: Date | null;
  @nullable(TEXT, 'Reason for the decision.') decision_reason!: string | null;
}

/** An applied change. */
export class ApprovedChangeRecord extends ChangeRecord {
  @ApiProperty({
    type: 'string',
    required: false,
    description:
      'Claim code of a personal key, shown only once and only here. Give it to its owner alone, who claims ' +
      'the key: `POST /v1/key-claims`.',
  })
  claim_code?: string;
}

/** A claim by either the code or the key ID. */
@NotForwarded()
export class ClaimKeyDto {
  @Text({ max: 100, required: false, description: 'Claim code of the key.', example: 'ppc_desk_…' })
  code?: string;
  @field(
    {
      required: false,
      requiredIf: ({ code }: Partial<ClaimKeyDto>) => code === undefined,
      must: 'must be the ID of a key, unless code is given',
      test: (value) => typeof value === 'string' && isUuid(value),
    },
    { type: 'string', format: 'uuid', description: 'ID of a key whose owner is signed in.' },
  )
  key_id?: string;
}

export class ChangesDto {
  @described({ type: [ChangeRecord] }, 'Newest first.') changes!: ChangeRecord[];
  @nextPageToken() next_page_token!: string | null;
}

const PERSON = 'ID of a person of a client, or name of the owner of a personal key or a sign-in';

@NotForwarded()
export class MergePeopleDto {
  @Text({ max: 128, description: `${PERSON}: the person to keep.`, example: 'ada' }) kept!: string;
  @Text({ max: 128, description: `${PERSON}: the same human.`, example: 'ada.lovelace' }) merged!: string;
  @Text({ max: 1_000, required: false, description: 'Reason for the record.' })
  reason?: string;
}

class MergedPersonDto {
  @described(UUID, 'ID of the person.') id!: string;
  @nullable(TEXT, 'Name of the owner of keys. Null for a person of a client.') name!: string | null;
}

export class MergedPeopleDto {
  @described({ type: MergedPersonDto }, 'The kept person.') kept!: MergedPersonDto;
  @described({ type: MergedPersonDto }, 'The same human.') merged!: MergedPersonDto;
}

@NotForwarded()
export class RevokePersonDto {
  @Uuid('ID of the person, instead of the name and the issuer.') person_id?: string;

  @Text({
    max: 500,
    required: false,
    description: 'Subject at the provider (`sub`), or the name in `X-Actor`.',
    example: 'alice',
  })
  name?: string;

  @Text({
    max: 500,
    required: false,
    description: 'The provider (`iss`). Omit it for a person in `X-Actor`.',
    example: 'https://id.example.com',
  })
  issuer?: string;

  @Text({ max: 1_000, required: false, description: 'Reason for the record.' })
  reason?: string;
}

export class RevokedPersonDto implements RevokedPerson {
  @described(UUID, 'ID of the person.') person_id!: string;
  @described(INSTANT, 'Time of the revocation. Earlier credentials are refused.') revoked_at!: Date;
  @described(
    BOOLEAN,
    'Whether the client had no person with this name. If so, check the name and the issuer.',
  )
  is_new!: boolean;
}
