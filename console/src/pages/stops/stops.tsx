import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function StopsPage() {
  return (
    <Page title="Stop switch">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
