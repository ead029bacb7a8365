import { texts } from '../texts/texts.ts'

interface TooLongProps {
  /** How many bytes too many. */
  excess: number
  /** Makes a file of the text, where files are sent. */
  onFile: (() => void) | undefined
}

/** Why a text is not sent, and what can be done about it. */
export function TooLong({ excess, onFile }: TooLongProps) {
  const { composer } = texts.value
  return (
    <p class="error" role="alert">
      {composer.too_long(excess)}{' '}
      {onFile && (
        <button type="button" class="link" onClick={onFile}>
          {composer.as_file}
        </button>
      )}
    </p>
  )
}
