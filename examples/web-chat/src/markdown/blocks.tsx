import type { Token, Tokens } from 'marked'
import { CodeBlock } from './code-block.tsx'
import { Inline } from './inline.tsx'

/** A block of Markdown. What is unknown is shown as its text. */
export function BlockToken({ token }: { token: Token }) {
  switch (token.type) {
    case 'paragraph':
      return (
        <p>
          <Inline tokens={token.tokens} />
        </p>
      )
    case 'heading':
      // Not a heading of the page, whose outline is ours.
      return (
        <p class="heading" data-depth={token.depth}>
          <Inline tokens={token.tokens} />
        </p>
      )
    case 'code':
      return <CodeBlock text={token.text} language={token.lang} />
    case 'blockquote':
      return <blockquote>{blocksOf(token.tokens)}</blockquote>
    case 'list':
      return <List token={token as Tokens.List} />
    case 'table':
      return <Table token={token as Tokens.Table} />
    case 'hr':
      return <hr />
    case 'space':
    case 'def':
      return null
    case 'text':
      return <Inline tokens={token.tokens ?? [token]} />
    default:
      return <p>{token.raw}</p>
  }
}

function blocksOf(tokens: readonly Token[] = []) {
  return tokens.map((token, index) => <BlockToken key={index} token={token} />)
}

function List({ token: { ordered, start, items } }: { token: Tokens.List }) {
  const children = items.map(({ task, checked, tokens }, index) => (
    <li key={index} class={task ? 'task' : undefined}>
      {task && (checked ? '☑ ' : '☐ ')}
      {blocksOf(tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ))
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>
}

function Table({ token: { header, rows } }: { token: Tokens.Table }) {
  const cellsOf = (cells: Tokens.TableCell[], Cell: 'th' | 'td') =>
    cells.map(({ align, tokens }, index) => (
      <Cell key={index} data-align={align}>
        <Inline tokens={tokens} />
      </Cell>
    ))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for the keyboard.
    <div class="wide" tabIndex={0}>
      <table>
        <thead>
          <tr>{cellsOf(header, 'th')}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>{cellsOf(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
