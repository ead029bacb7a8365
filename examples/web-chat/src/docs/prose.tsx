/** A text of the document: its code in backticks, its paragraphs, its lists. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n\n+/).map((block, index) =>
        block.startsWith('- ') ? (
          <ul key={index} class="points" lang="en">
            {block.split(/\n?^- /m).map((item) => item && <li key={item}>{codeIn(item)}</li>)}
          </ul>
        ) : (
          <p key={index} lang="en">
            {codeIn(block)}
          </p>
        ),
      )}
    </>
  )
}

/** A line with its code in backticks. */
export function codeIn(text: string) {
  return text.split('`').map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))
}
