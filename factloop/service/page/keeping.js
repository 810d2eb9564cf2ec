// Stopping a job, and deleting one that is over.
import { post, remove } from "./api.js";
import { button, leadingOn } from "./dom.js";

// `refused` hears what the service says where it does not do it, and "" before.
export const stopButton = (words, path, refused) => button(words, trying(() => post(`${path}/cancel`, {}), refused), { class: "quiet is-strong" });

// A second press deletes.
export const deleteButton = (path, refused) => {
  let asked = false;
  const press = async () => {
    if (asked) {
      const goTo = leadingOn();
      await remove(path);
      goTo("#/history");
      return;
    }
    asked = true;
    element.textContent = "Delete it for good?";
  };
  const element = button("Delete", trying(press, refused));
  return element;
};

const trying = (work, refused) => async () => {
  refused("");
  try { await work(); } catch (error) { refused(error.message); }
};
