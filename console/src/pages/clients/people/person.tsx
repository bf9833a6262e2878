import { Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api, revealing, whilePaging, http } from '../../../api/client';
import type { ClientDto, PersonDto } from '../../../api/generated/schema';
import { useSession } from '../../../api/session';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { PeopleSwitch } from '../../../components/lists/people-switch';
import { Page } from '../../../components/page/page';
import { Section } from '../../../components/page/section';
import { Answer } from '../../../components/page/states';
import { WordBadge } from '../../../components/values/badges';
import { Copyable } from '../../../components/values/copyable';
import { Facts } from '../../../components/values/facts';
import { Instant } from '../../../components/values/values';
import { PeriodUsage } from '../limits/cap-usage';
import { LABELS, limitInWords } from '../limits/draft';
import { reloadClients } from '../reload-clients';
import { LimitPerson } from './limit-person';
import { defaultInWords, OWN_LIMITS, type OwnLimit, personWords } from './person-limits';

/** Shows one person of a client: their spending against their caps, their limits, and their credentials. */
export default function PersonPage() {
  const { name: client = '', id = '' } = useParams();
  const [reveal, setReveal] = useState(false);
  const init = { params: { path: { name: client, id } }, headers: revealing(reveal) };
  const person = api.useQuery('get', '/v1/clients/{name}/persons/{id}', init, whilePaging(reveal));
  const of = api.useQuery('get', '/v1/clients/{name}', { params: { path: { name: client } } });
  return (
    <Page title="Person" actions={<PeopleSwitch reveal={reveal} setReveal={setReveal} />}>
      <Links client={client} id={id} />
      <Answer of={person} lines={8}>
        {(data) => (
          <Stack gap="xl">
            <Summary of={data} />
            <Answer of={of}>{(known) => <Limits client={known} of={data} />}</Answer>
            <Credentials client={client} of={data} />
          </Stack>
        )}
      </Answer>
    </Page>
  );
}

function Links({ client, id }: { client: string; id: string }) {
  const { may } = useSession();
  return (
    <Group>
      <Anchor component={Link} href={`/clients/${client}/persons`} size="sm">
        People of {client}
      </Anchor>
      {may('audit') && (
        <Anchor component={Link} href={`/calls?person_id=${id}`} size="sm">
          Calls of this person
        </Anchor>
      )}
    </Group>
  );
}

function Summary({ of: { id, name, issuer, first_seen_at: at, usage } }: { of: PersonDto }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xl">
      <Facts
        of={{
          Name: name ?? 'none: the person was erased, or has not called yet',
          'Named by': issuer ?? 'the app',
          ID: <Copyable text={id} label="the person's ID" />,
          'First seen': <Instant at={at} />,
        }}
      />
      <PeriodUsage title="Spent today, UTC" cap={usage.daily} />
      <PeriodUsage title="Spent this month, UTC" cap={usage.monthly} />
    </SimpleGrid>
  );
}

function Limits({ client, of }: { client: ClientDto; of: PersonDto }) {
  const [changing, setChanging] = useState(false);
  const rows = OWN_LIMITS.map(
    (name) => [LABELS[name], <Limit key={name} client={client} of={of} name={name} />] as const,
  );
  return (
    <Section
      title="Limits"
      actions={
        <Button size="xs" variant="default" onClick={() => setChanging(true)}>
          Change limits
        </Button>
      }
    >
      <Facts of={Object.fromEntries(rows)} />
      {changing && <LimitPerson client={client} person={of} close={() => setChanging(false)} />}
    </Section>
  );
}

/** Shows the limit that applies. If it is the person's own, it also shows the default. */
function Limit({ client, of, name }: { client: ClientDto; of: PersonDto; name: OwnLimit }) {
  const own = of[name];
  if (own === null) return defaultInWords(client, name);
  return (
    <Group gap="xs" component="span" display="inline-flex">
      {limitInWords(name, own)} <WordBadge color="blue">own</WordBadge>
      <Text span size="xs" c="dimmed">
        default: {defaultInWords(client, name)}
      </Text>
    </Group>
  );
}

function Credentials({ client, of }: { client: string; of: PersonDto }) {
  const [revoking, setRevoking] = useState(false);
  return (
    <Section
      title="Credentials"
      actions={
        <Button size="xs" variant="default" onClick={() => setRevoking(true)}>
          Revoke credentials
        </Button>
      }
      lead="Access tokens, sessions on the pages of the client, and ephemeral keys."
    >
      <Text size="sm">
        {of.revoked_at === null ? (
          'Never revoked.'
        ) : (
          <>
            Those issued before <Instant at={of.revoked_at} /> are revoked.
          </>
        )}
      </Text>
      {revoking && <RevokePerson client={client} of={of} close={() => setRevoking(false)} />}
    </Section>
  );
}

/** Asks for a reason, and explains the effect of the revocation. */
function RevokePerson({ client, of, close }: { client: string; of: PersonDto; close: () => void }) {
  const queries = useQueryClient();
  const run = async (reason: string) => {
    const body = { person_id: of.id, reason };
    await http.POST('/v1/clients/{name}/persons/revoke', { params: { path: { name: client } }, body });
    reloadClients(queries);
    notifications.show({ message: 'Revoked. The person must sign in again.', color: 'teal' });
  };
  return (
    <ReasonDialog
      title="Revoke a person's credentials"
      action="Revoke credentials"
      danger
      run={run}
      close={close}
    >
      <Text size="sm">
        This ends all tokens, sessions and keys that <b>{personWords(of)}</b> has of <b>{client}</b>. They are
        rejected from the next request, on every instance. Calls that are being sent are completed. Pending
        requests made with them can no longer be approved.
      </Text>
      <Text size="sm">
        Credentials that are issued later are accepted. To keep the person out, block them at the identity
        provider, or set their daily cap to 0.
      </Text>
    </ReasonDialog>
  );
}
