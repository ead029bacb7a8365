import { Component, type ComponentChildren } from 'preact'

interface BoundaryProps {
  /** What is shown if the children cannot be. */
  fallback: ComponentChildren
  /** With another one, they are tried again. */
  subject: unknown
  children: ComponentChildren
}

/** Keeps what cannot be rendered from taking all around it down. */
export class Boundary extends Component<BoundaryProps, { failed: unknown[] }> {
  override state = { failed: [] as unknown[] }

  override componentDidCatch(error: unknown): void {
    // For the console, and what watches it: the rest of the page goes on.
    reportError(error)
    this.setState({ failed: [this.props.subject] })
  }

  render() {
    return this.state.failed.includes(this.props.subject) ? this.props.fallback : this.props.children
  }
}
