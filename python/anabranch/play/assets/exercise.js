// An exercise of the lab beside the playground: its question, settings to try, what there is to see.
import { html, useEffect, useRef } from "./standalone.module.js";

export const Exercise = ({ lab, exercise, open, close }) => {
  const index = lab.exercises.findIndex((it) => it.id === exercise.id);
  const beside = (step) => lab.exercises[index + step];
  const section = useRef(null);
  // Each exercise begins at its question, wherever the panel stood.
  useEffect(() => { section.current.closest(".side").scrollTop = 0; }, [exercise.id]);
  const toggled = (event) => { if (event.target.open) event.target.scrollIntoView({ block: "nearest" }); };
  return html`
    <section class="exercise" ref=${section} aria-labelledby="exercise-title">
      <p class="soft">Lab, exercise ${index + 1} of ${lab.exercises.length}, ${exercise.minutes} minutes</p>
      <h2 id="exercise-title">${exercise.title}</h2>
      <p class="question">${exercise.question}</p>
      ${exercise.background ? html`<p>${exercise.background}</p>` : null}
      <ol>${exercise.steps.map((step) => html`
        <li key=${step.text}><p>${step.text}</p>
          ${step.a ? html`<button type="button" onClick=${() => open(exercise, step)}>Set it</button>` : null}
        </li>`)}</ol>
      <details key=${exercise.id} onToggle=${toggled}><summary>What to see</summary><ul>${exercise.see.map((text) => html`<li key=${text}>${text}</li>`)}</ul></details>
      <nav aria-label="Exercises">
        ${beside(-1) ? html`<button type="button" onClick=${() => open(beside(-1))}>◂ ${beside(-1).title}</button>` : null}
        ${beside(1) ? html`<button type="button" onClick=${() => open(beside(1))}>${beside(1).title} ▸</button>` : null}
        <button type="button" onClick=${close}>Close the lab</button>
      </nav>
    </section>`;
};
