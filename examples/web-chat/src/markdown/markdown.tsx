import { Lexer, type Token } from 'marked'
import { Component } from 'preact'
import { BlockToken } from './blocks.tsx'

const OPTIONS = { gfm: true, breaks: true }

/**
 * Markdown as elements. No HTML is made: HTML in the text is shown as the text it is. While a text grows, only its last
 * block is rendered again.
 */
export function Markdown({ text, isGrowing = false }: { text: string; isGrowing?: boolean }) {
  if (text === '') return null
  const tokens = Lexer.lex(text, OPTIONS).filter(({ type }) => type !== 'space' && type !== 'def')
  return (
    <div class="markdown" dir="auto" data-growing={isGrowing}>
      {tokens.map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  )
}

class Block extends Component<{ token: Token }> {
  override shouldComponentUpdate({ token }: { token: Token }): boolean {
    return token.raw !== this.props.token.raw || token.type !== this.props.token.type
  }

  render() {
    return <BlockToken token={this.props.token} />
  }
}
