/** A text as it was typed. */
export function PlainText({ text }: { text: string }) {
  return (
    <div class="markdown plain" dir="auto">
      {text}
    </div>
  )
}
