import { Button, Group } from '@mantine/core';
import { ChevronLeft, ChevronRight, ChevronsLeft } from 'lucide-react';
import { useSearchParams } from 'wouter';

/** Moves through the pages of a list. The browser's back button also leads to the previous page. */
export function Pager({ next }: { next: string | null | undefined }) {
  const [params, setParams] = useSearchParams();
  const isFirst = !params.has('page_token');
  const isFromHere = (history.state as { paged?: boolean } | null)?.paged === true;
  const go = (token: string | undefined) =>
    setParams(
      (before) => {
        const to = new URLSearchParams(before);
        if (token === undefined) to.delete('page_token');
        else to.set('page_token', token);
        return to;
      },
      { state: { paged: token !== undefined } },
    );
  if (isFirst && !next) return null;
  return (
    <Group component="nav" aria-label="Pages" gap="xs" justify="flex-end">
      <Button
        variant="default"
        size="xs"
        leftSection={<ChevronsLeft size={14} />}
        disabled={isFirst}
        onClick={() => go(undefined)}
      >
        First
      </Button>
      <Button
        variant="default"
        size="xs"
        leftSection={<ChevronLeft size={14} />}
        disabled={!isFromHere}
        onClick={() => history.back()}
      >
        Previous
      </Button>
      <Button
        variant="default"
        size="xs"
        rightSection={<ChevronRight size={14} />}
        disabled={!next}
        onClick={() => go(next ?? undefined)}
      >
        Next
      </Button>
    </Group>
  );
}
