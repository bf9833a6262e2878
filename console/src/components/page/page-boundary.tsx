import { Component, type ReactNode } from 'react';
import { Failure } from './states';

interface State {
  error: Error | undefined;
}

/** Contains the failure of a page: a rendering error, or a script that an update has removed. */
export class PageBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Failure
        error={new Error('This page failed, or a newer version was installed. Reload the page.')}
        retry={() => location.reload()}
      />
    );
  }
}
