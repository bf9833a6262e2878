import { LimitKey, LimitsDocument, OwnLimitKey } from '../../access/clients/limits/limits';
import { OWN_LIMIT_KEYS } from '../../access/people/person';
import { ListedPerson } from '../../access/people/person-exceptions';
import {
  RequestedLimits,
  requestedLimit,
  shownLimit,
  withLimits,
} from '../../http/validation/rules/limit-properties';
import { PageSize, PageToken } from '../../http/validation/rules/query-rules';
import { NotForwarded, Text } from '../../http/validation/rules/rules';
import { described, INSTANT, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';
import { UsageDto } from '../limits/cap';

const MAX_NAME = 255;
const MAX_ISSUER = 500;

const askedOwnLimit = (key: LimitKey) => requestedLimit(key, "Null applies the client's limit.");

export class PersonSearch implements PageRequest {
  @Text({ max: MAX_NAME, required: false, description: 'Exact name of the person.' }) name?: string;
  @PageSize() page_size?: number;
  @PageToken() page_token?: string;
}

/** Own limits of a person. Null applies the client's limit. Omitted fields stay unchanged. */
@NotForwarded()
export class ChangePersonDto extends withLimits<object, RequestedLimits<OwnLimitKey>>(
  Object,
  OWN_LIMIT_KEYS,
  askedOwnLimit,
) {
  @Text({ max: 1_000, required: false, description: 'Reason for the record.', example: 'Case 17' })
  reason?: string;
}

@NotForwarded()
export class LimitPersonDto extends ChangePersonDto {
  @Text({ max: MAX_NAME, description: 'Subject at the provider, or the name in `X-Actor`.' })
  name!: string;

  @Text({ max: MAX_ISSUER, required: false, description: 'Provider of the person, if any.' }) issuer?: string;
}

class PersonIdentity {
  @described(UUID, 'ID of the person in records.') id!: string;
  @nullable(TEXT, 'Subject or name, with masked contacts. Null after its erasure.') name!: string | null;
  @nullable(TEXT, 'Provider of the person, if any.') issuer!: string | null;
  @described(INSTANT, 'Time of the first request, or of the addition.') first_seen_at!: Date;
  @nullable(INSTANT, 'Time of the last revocation of credentials.') revoked_at!: Date | null;
}

/** A person with their own limits. Null applies the client's limit. */
export class PersonDto
  extends withLimits<PersonIdentity, LimitsDocument<OwnLimitKey>>(PersonIdentity, OWN_LIMIT_KEYS, shownLimit)
  implements ListedPerson
{
  @described({ type: UsageDto }, "Spending against the person's own caps, or the client's.") usage!: UsageDto;
}

export class PersonsDto {
  @described({ type: [PersonDto] }, 'Newest first.') persons!: PersonDto[];
  @nextPageToken() next_page_token!: string | null;
}
