import { useId } from 'preact/hooks'

interface RadiosProps {
  label: string
  value: string
  choices: readonly { value: string; sign: string; name: string }[]
  onChange: (value: string) => void
}

/** Choices beside each other, of which one is made: one stop of the Tab key. */
export function Radios({ label, value, choices, onChange }: RadiosProps) {
  const name = useId()
  return (
    <div class="radios" role="radiogroup" aria-label={label}>
      {choices.map((choice) => (
        <label key={choice.value} title={choice.name}>
          <input
            type="radio"
            class="hidden"
            name={name}
            aria-label={choice.name}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span aria-hidden="true">{choice.sign}</span>
        </label>
      ))}
    </div>
  )
}
