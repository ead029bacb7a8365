import type { Result } from './call.ts'
import { texts } from './texts.ts'

/** What an endpoint has answered. */
export function ResultView({ result: { status, ms, headers, text } }: { result: Result }) {
  return (
    <div class="result" data-failed={status >= 400}>
      <p>
        <strong>{texts.took(status, ms)}</strong>
      </p>
      <details>
        <summary>{texts.headers}</summary>
        <ul>
          {headers.map(([name, value]) => (
            <li key={name}>
              <code>
                {name}: {value}
              </code>
            </li>
          ))}
        </ul>
      </details>
      {text === '' ? (
        <p class="quiet">{texts.empty}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also for the keyboard.
        <pre tabIndex={0}>{text}</pre>
      )}
    </div>
  )
}
