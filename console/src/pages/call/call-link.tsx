import { Anchor } from '@mantine/core';
import { Link } from 'wouter';

/** Links to a call by its ID. */
export function CallLink({ id }: { id: string }) {
  return (
    <Anchor component={Link} href={`/calls/${id}`} size="sm" ff="monospace" className="wrap-anywhere">
      {id}
    </Anchor>
  );
}
