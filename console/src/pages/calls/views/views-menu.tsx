import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Bookmark } from 'lucide-react';
import type { List } from '../list';
import { ManageViews, SaveView } from './views-dialogs';
import { open, USUAL_VIEWS, useSavedViews } from './views';

/** Opens saved views. */
export function ViewsMenu({ list }: { list: List }) {
  const saved = useSavedViews(list.what);
  const [isSaving, saving] = useDisclosure();
  const [isManaging, managing] = useDisclosure();
  return (
    <>
      <Menu position="bottom-end" width={240} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button variant="default" size="xs" leftSection={<Bookmark size={14} aria-hidden />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {[...USUAL_VIEWS, ...saved.views].map((view, place) => (
            <Menu.Item key={`${place}/${view.name}`} onClick={() => open(list, view)}>
              {view.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={saving.open}>Save this view…</Menu.Item>
          <Menu.Item onClick={managing.open} disabled={saved.views.length === 0}>
            Rename or delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isSaving && <SaveView list={list} saved={saved} close={saving.close} />}
      {isManaging && <ManageViews saved={saved} close={managing.close} />}
    </>
  );
}
