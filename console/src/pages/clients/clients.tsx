import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function ClientsPage() {
  return (
    <Page title="Clients">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
