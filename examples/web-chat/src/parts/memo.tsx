import { Component, type ComponentType, type FunctionComponent } from 'preact'

/** A component of a message that is rendered again only if something in its properties has changed. */
export function memo<Props extends { message: object }>(Inner: FunctionComponent<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate({ message, ...rest }: Props): boolean {
      const { message: before, ...known } = this.props
      const keys = Object.keys(rest) as (keyof typeof rest)[]
      return keys.some((key) => rest[key] !== known[key]) || !isSame(message, before)
    }

    render() {
      return <Inner {...(this.props as Props)} />
    }
  }
}

/** A list that is read again has other objects with, for the most part, the same in them. */
function isSame(one: object, other: object): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}
