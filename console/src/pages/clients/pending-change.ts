import { notifications } from '@mantine/notifications';
import type { WaitingDto } from '../../api/generated/schema';

/** Returns whether a change waits for a second person. If it does, a notification says so. */
export function notifyPendingChange(answer: object): answer is WaitingDto {
  if (!('change_id' in answer)) return false;
  const { change_id: id } = answer as WaitingDto;
  notifications.show({
    message: `Another administrator must approve this change. It waits on the page Changes: ${id}`,
    color: 'orange',
    autoClose: false,
  });
  return true;
}
