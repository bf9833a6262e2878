import { ALL_PAYOUTS, hasTerm, NameFilter } from '../../journal/lookups/search-names';
import { hashedKey, TAGS, termOf } from '../../journal/lookups/search-terms';
import { Prisma } from '../../platform/database/generated/client';
import { recordedForms } from '../../platform/privacy/recorded';
import { isNamed, namedBeginnings } from './recipient-filters';
import { SearchFilters } from './search.dto';

/** Returns the filters by names, in their recorded forms. */
export function namesOf({ reference }: SearchFilters, search: SearchFilters): NameFilter[] {
  const { request_id: request, idempotency_key: key, upstream_ref: ref, recipient_prefix: prefix } = search;
  const filters: [NameFilter['kind'], string[] | undefined][] = [
    ['idempotency_key', key === undefined ? undefined : [key, hashedKey(key)]],
    ['request_id', request === undefined ? undefined : [request]],
    ['transaction', ref === undefined ? undefined : [ref]],
    ['reference', reference === undefined ? undefined : recordedForms(reference)],
    ['beginning', prefix === undefined || !isNamed(prefix) ? undefined : namedBeginnings(prefix)],
  ];
  return filters.flatMap(([kind, names]) => (names === undefined ? [] : [{ kind, names }]));
}

/** Returns the conditions of the names of a call and of all its payouts. */
export function ofCallNames(search: SearchFilters): Prisma.Sql[] {
  const { request_id: request, idempotency_key: key, upstream_ref: ref } = search;
  const ofCall = Prisma.sql`payouts[1]`;
  return [
    ...(key === undefined
      ? []
      : [
          hasTerm(
            ofCall,
            [key, hashedKey(key)].map((form) => termOf(TAGS.idempotency, form)),
          ),
        ]),
    ...(request === undefined ? [] : [hasTerm(ofCall, [termOf(TAGS.request, request)])]),
    ...(ref === undefined ? [] : [hasTerm(ALL_PAYOUTS, [termOf(TAGS.ref, ref)])]),
  ];
}

export function referenceTerms(reference: string): string[] {
  return recordedForms(reference).map((form) => termOf(TAGS.reference, form));
}
