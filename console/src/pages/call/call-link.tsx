import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

/** To the page of another call, by its id. */
export function CallLink({ id }: { id: string }) {
  return (
    <Anchor component={Link} href={`/calls/${id}`} size="sm" ff="monospace" className="wrap-anywhere">
      {id}
    </Anchor>
  );
}
