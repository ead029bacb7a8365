import { CodeBlock } from './code-block.tsx'
import { Lines } from './inline.tsx'
import type { Block, Inline } from './tokens.ts'

/** A block of Markdown. HTML is shown as its text. */
export function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case 'paragraph':
      return (
        <p>
          <Lines inlines={block.lines} />
        </p>
      )
    case 'heading':
      // Not a heading of the page, whose outline is ours.
      return (
        <p class="heading" data-depth={block.depth}>
          <Lines inlines={block.lines} />
        </p>
      )
    case 'code':
      return <CodeBlock {...block} />
    case 'quote':
      return <blockquote>{viewsOf(block.blocks)}</blockquote>
    case 'list':
      return <List list={block} />
    case 'table':
      return <Table table={block} />
    case 'rule':
      return <hr />
    case 'html':
      return <p>{block.text}</p>
  }
}

function viewsOf(blocks: readonly Block[]) {
  return blocks.map((block, index) => <BlockView key={index} block={block} />)
}

type Kind<Type extends Block['type']> = Extract<Block, { type: Type }>

function List({ list: { start, isTight, items } }: { list: Kind<'list'> }) {
  const children = items.map(({ isDone, blocks }, index) => (
    <li key={index} class={isDone === undefined ? undefined : 'task'}>
      {isDone !== undefined && (isDone ? '☑ ' : '☐ ')}
      {isTight ? blocks.map(tightView) : viewsOf(blocks)}
    </li>
  ))
  if (start === undefined) return <ul>{children}</ul>
  // The numbers stand in the padding: it is as wide as the longest one.
  const digits = `${start + items.length - 1}`.length
  return (
    <ol start={start} style={{ '--digits': digits }}>
      {children}
    </ol>
  )
}

/** The lines of an item whose list has no empty ones are no paragraph. */
function tightView(block: Block, index: number) {
  return block.type === 'paragraph' ? (
    <Lines key={index} inlines={block.lines} />
  ) : (
    <BlockView key={index} block={block} />
  )
}

function Table({ table: { aligns, header, rows } }: { table: Kind<'table'> }) {
  const cellsOf = (cells: Inline[][], Cell: 'th' | 'td') =>
    cells.map((inlines, index) => (
      <Cell key={index} data-align={aligns[index]}>
        <Lines inlines={inlines} />
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
