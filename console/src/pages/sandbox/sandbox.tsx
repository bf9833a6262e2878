import { Page } from '../../components/page';
import { Empty } from '../../components/states';

export default function SandboxPage() {
  return (
    <Page title="Sandbox">
      <Empty>Nothing here yet.</Empty>
    </Page>
  );
}
