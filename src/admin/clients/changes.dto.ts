import { ApiProperty } from '@nestjs/swagger';
import { CHANGE_KINDS, CHANGE_STATUSES, ChangeStatus } from '../../access/dual-control/pending-changes';
import { RevokedPerson } from '../../access/people/person-revocations.service';
import { ActivityState } from '../../history/access-log/activity-state.dto';
import { OneOf, PageSize, PageToken, Uuid } from '../../http/validation/rules/query-rules';
import { field, NotForwarded, Text } from '../../http/validation/rules/rules';
import { isUuid } from '../../platform/database/uuid';
import { described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';

/** A change that waits for a second person. */
export class WaitingDto {
  @ApiProperty({ enum: ['pending_approval'] }) status!: 'pending_approval';
  @described(UUID, 'ID of the change.') change_id!: string;
  @described(INSTANT, 'When it can no longer be approved.') expires_at!: Date;
  @ApiProperty({
    type: 'string',
    required: false,
    description:
      'The new key, shown only once. It opens nothing until the change is approved. The key of a person ' +
      'is missing: the person claims it.',
  })
  key?: string;
}

export class ChangeSearch implements PageRequest {
  @OneOf(CHANGE_STATUSES, 'Status of the changes. Default: `pending`.') status?: ChangeStatus;

  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

@NotForwarded()
export class ChangeDecisionDto {
  @Text({ max: 1_000, description: 'Reason for the decision, which is recorded.', example: 'Case 17' })
  reason!: string;
}

class ChangePerson {
  @nullable(TEXT, 'Name of the client.') client!: string | null;
  @described(UUID, 'ID of the key.') key_id!: string;
  @described(TEXT, 'The owner of the key.') person!: string;
}

class KeyHolder {
  @described(UUID, 'ID of the key.') key_id!: string;
  @nullable(TEXT, 'The owner of the key. Null: nobody in particular.') person!: string | null;
}

/** A change of a client, a new key, the lift of a stop, or a merge of people, that needs a second person. */
export class ChangeRecord {
  @described(UUID, 'ID of the change.') id!: string;
  @described({ enum: CHANGE_KINDS }, 'Kind of change.') kind!: (typeof CHANGE_KINDS)[number];
  @described({ enum: CHANGE_STATUSES }, '`superseded`: the client was changed meanwhile.')
  status!: ChangeStatus;
  @nullable(TEXT, 'Name of the changed client. Null: a stop, or two people.') client!: string | null;
  @ApiProperty({
    type: [String],
    description:
      'What needs a second person: fields of the client, `keys`, `beneficiaries`, `stops`, or `people`.',
  })
  expands!: string[];
  @nullable(ActivityState, 'The fields before the change. Null: the client does not exist.')
  before!: ActivityState | null;
  @described({ type: ActivityState }, 'The fields after the change.') after!: ActivityState;
  @described({ type: [KeyHolder] }, 'Valid keys of the client at the request. The change applies to them.')
  holders!: KeyHolder[];
  @nullable(TEXT, 'Reason for the request.') reason!: string | null;
  @described({ type: ChangePerson }, 'Who requested it.') requested_by!: ChangePerson;
  @ApiProperty({
    description:
      'Whether you requested it, or it merges you, by any of your names. Another person must decide.',
  })
  is_own!: boolean;
  @described(INSTANT, 'When it was requested.') requested_at!: Date;
  @described(INSTANT, 'When it can no longer be approved.') expires_at!: Date;
  @nullable(ChangePerson, 'Who decided.') decided_by!: ChangePerson | null;
  @nullable(INSTANT, 'When it was decided.') decided_at!: Date | null;
  @nullable(TEXT, 'Reason for the decision.') decision_reason!: string | null;
}

/** An applied change. */
export class ApprovedChangeRecord extends ChangeRecord {
  @ApiProperty({
    type: 'string',
    required: false,
    description:
      'The claim code of the key of a person, shown only once and only here. Give it to nobody else. ' +
      'With it, the person claims the key: `POST /v1/key-claims`.',
  })
  claim_code?: string;
}

/** A claim by exactly one of the code and the key ID. */
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
    { type: 'string', format: 'uuid', description: 'ID of a key of the person of the session.' },
  )
  key_id?: string;
}

export class ChangesDto {
  @described({ type: [ChangeRecord] }, 'Newest first.') changes!: ChangeRecord[];
  @nextPageToken() next_page_token!: string | null;
}

const PERSON = 'The ID of a person of a client, or the name of the owner of a personal key or a sign-in';

@NotForwarded()
export class MergePeopleDto {
  @Text({ max: 128, description: `${PERSON}: the person who is kept.`, example: 'ada' }) kept!: string;
  @Text({ max: 128, description: `${PERSON}: the same human.`, example: 'ada.lovelace' }) merged!: string;
  @Text({ max: 1_000, required: false, description: 'Reason for the change, which is recorded.' })
  reason?: string;
}

class MergedPersonDto {
  @described(UUID, 'ID of the person.') id!: string;
  @nullable(TEXT, 'Name of the owner of keys. Null: a person of a client.') name!: string | null;
}

export class MergedPeopleDto {
  @described({ type: MergedPersonDto }, 'The person who is kept.') kept!: MergedPersonDto;
  @described({ type: MergedPersonDto }, 'The same human.') merged!: MergedPersonDto;
}

@NotForwarded()
export class RevokePersonDto {
  @Uuid('ID of the person, instead of the name and the issuer.') person_id?: string;

  @Text({
    max: 500,
    required: false,
    description: 'Subject at the provider (`sub`), or the name that the app uses.',
    example: 'alice',
  })
  name?: string;

  @Text({
    max: 500,
    required: false,
    description: 'The provider (`iss`). Left out: a person whom the app names itself.',
    example: 'https://id.example.com',
  })
  issuer?: string;

  @Text({ max: 1_000, required: false, description: 'Reason for the change, which is recorded.' })
  reason?: string;
}

export class RevokedPersonDto implements RevokedPerson {
  @described(UUID, 'ID of the person.') person_id!: string;
  @described(INSTANT, 'Credentials from before are refused.') revoked_at!: Date;
  @ApiProperty({ description: 'Nobody of the client had this name. Check it, and the issuer.' })
  is_new!: boolean;
}
